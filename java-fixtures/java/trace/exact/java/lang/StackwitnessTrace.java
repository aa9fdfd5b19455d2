package java.lang;

/**
 * The hooks that Stackwitness writes into every method, exact mode: each is a native method that
 * keeps the trace stack of the calling thread.
 *
 * <p>Methods whose id alone identifies their entry call {@link #enter}, {@link #exit} and {@link
 * #unwind}. Methods with exception handlers, and some constructors, keep a token in a local
 * variable and call the other hooks.
 *
 * <p>The agent defines this class into the boot loader before the module system is up and links the
 * natives before the first hooked class runs. Therefore it has no static initialiser, no state and
 * no dependency but {@link Object}.
 */
public final class StackwitnessTrace {
    private StackwitnessTrace() {
    }

    /**
     * Puts a method on the calling thread's trace stack. The id comes in two
     * halves, so that {@code sipush} can load each.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits: the id is {@code idHigh << 16 | idLow & 0xffff}
     * @return the depth before, the token for the other hooks of this call
     */
    public static native int push(int idHigh, int idLow);

    /**
     * Normal return: sets the depth back.
     *
     * @param token what {@link #push} returned
     */
    public static native void pop(int token);

    /**
     * Exceptional exit: {@link #pop} for a frame that an exception leaves.
     *
     * @param exception the exception in flight
     * @param token     what {@link #push} returned
     */
    public static native void thrown(Object exception, int token);

    /**
     * Start of an exception handler: the frames above this one are gone, the
     * depth becomes {@code token + 1}.
     *
     * @param exception the exception caught
     * @param token     what {@link #push} returned
     */
    public static native void caught(Object exception, int token);

    /**
     * {@link #push} for a method that keeps no token.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    public static native void enter(int idHigh, int idLow);

    /**
     * {@link #pop} for a method that keeps no token: the newest entry with its id goes.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    public static native void exit(int idHigh, int idLow);

    /**
     * {@link #thrown} for a method that keeps no token.
     *
     * @param exception the exception in flight
     * @param idHigh    the upper bits of the method's id
     * @param idLow     its lower 16 bits
     * @return the exception
     */
    public static native Throwable unwind(Object exception, int idHigh, int idLow);

    /** Compares the trace stack with the answers of the walkers at this place. */
    public static native void check();
}
