package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The hooks that Stackwitness writes into every method, light mode: {@link #push}
 * and {@link #pop} write the native trace stack of the calling thread themselves,
 * so that the compilers inline them, and with them the methods that they stand in.
 *
 * <p>{@link #directory} says where that is. It holds platform threads only, and
 * of those no one that carries a virtual thread now: such threads, and whatever
 * is not as it should be, take the way of the exact mode, a native method.
 *
 * <p>The thread's own signal handler may look at the trace stack between any two
 * instructions. As in the exact mode each change ends with the one store that
 * makes it visible, that of the depth. Compilers keep the order: to them all
 * memory outside of the heap is one.
 *
 * <p>The agent defines this class into the boot loader before the module system
 * is up. Therefore it has no static initialiser; what it needs later is in
 * {@link StackwitnessLayout}.
 */
public final class StackwitnessTrace {
    /**
     * The address of the agent's table from {@link Thread#getId} to the thread's
     * state there; 0 until the VM is up. Set by the agent.
     */
    private static long directory;

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
    @ForceInline
    public static int push(int idHigh, int idLow) {
        long state = state();
        if (state != 0) {
            Unsafe memory = StackwitnessLayout.MEMORY;
            int depth = memory.getInt(null, state + StackwitnessLayout.DEPTH);
            int untilCheck = memory.getInt(null, state + StackwitnessLayout.COUNTDOWN) - 1;
            if (depth < memory.getInt(null, state + StackwitnessLayout.CAPACITY) && untilCheck > 0) {
                memory.putInt(null, state + StackwitnessLayout.COUNTDOWN, untilCheck);
                // An entry has its method's id in the lower half. The upper half, what was
                // checked, is that of the entry below; there is one below the lowest.
                long entry = memory.getLong(null, state + StackwitnessLayout.ENTRIES) + ((long) depth << 3);
                long checked = memory.getLong(null, entry - 8) & 0xffff_ffff_0000_0000L;
                long id = (idHigh << 16 | idLow & 0xffff) & 0xffff_ffffL;
                memory.putLong(null, entry, checked | id);
                memory.putInt(null, state + StackwitnessLayout.DEPTH, depth + 1);
                return depth;
            }
        }
        return nativePush(idHigh, idLow);
    }

    /**
     * Normal return: sets the depth back.
     *
     * @param token what {@link #push} returned
     */
    @ForceInline
    public static void pop(int token) {
        long state = state();
        if (state != 0) {
            Unsafe memory = StackwitnessLayout.MEMORY;
            if (memory.getInt(null, state + StackwitnessLayout.DEPTH) == token + 1) {
                long pops = memory.getLong(null, state + StackwitnessLayout.EVEN_POPS);
                memory.putLong(null, state + StackwitnessLayout.EVEN_POPS, pops + 1);
                memory.putInt(null, state + StackwitnessLayout.DEPTH, token);
                return;
            }
        }
        nativePop(token);
    }

    /** The address of the calling thread's state; 0 if it takes the native way. */
    @ForceInline
    private static long state() {
        long table = directory;
        if (table == 0) {
            return 0;
        }
        Unsafe memory = StackwitnessLayout.MEMORY;
        long id = memory.getLong(Thread.currentThread(), StackwitnessLayout.THREAD_ID);
        return id < StackwitnessLayout.THREADS ? memory.getLong(null, table + (id << 3)) : 0;
    }

    private static native int nativePush(int idHigh, int idLow);

    private static native void nativePop(int token);

    /** One of the constants of {@link StackwitnessLayout}. */
    static native long layout(int which);

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

    /** Compares the trace stack with what the walkers say, here and now. */
    public static native void check();
}
