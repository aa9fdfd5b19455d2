package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The hooks that Stackwitness writes into every method, light mode: {@link #push}
 * and {@link #pop} write the native trace stack of the calling thread themselves,
 * so that the compilers inline them, and with them the methods that they stand in.
 *
 * <p>The agent adds a field to {@link Thread} with the address of the entries. It
 * is 0 in virtual threads, in threads that carry one now, and before the VM is up:
 * there, and wherever something is not as it should be, the hooks take the way of
 * the exact mode, a native method.
 *
 * <p>The thread's own signal handler may look at the trace stack between any two
 * instructions. As in the exact mode each change ends with the one store that
 * makes it visible, that of the depth. Compilers keep the order: to them all
 * memory outside of the heap is one.
 *
 * <p>The agent defines this class into the boot loader before the module system
 * is up. Therefore it has no static initialiser.
 */
public final class StackwitnessTrace {
    /** Where the depth is, an int, before the entries. */
    private static final long DEPTH = -16;
    /** Where the limit is: from this depth on pushes take the native way. */
    private static final long LIMIT = -12;
    /** The size of an entry. */
    private static final long ENTRY = 8;
    /** The part of an entry that is not the method's id: what was checked. */
    private static final long CHECKED = 0xffff_ffff_0000_0000L;

    /** Whether the VM is up: before, it has no current thread. Set by the agent. */
    private static boolean up;

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
        long entries = entries();
        if (entries != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth < memory.getInt(null, entries + LIMIT)) {
                long entry = entries + depth * ENTRY;
                // What was checked is as in the entry below; there is one below the lowest.
                long checked = memory.getLong(null, entry - ENTRY) & CHECKED;
                memory.putLong(null, entry, checked | (idHigh << 16 | idLow & 0xffff) & ~CHECKED);
                memory.putInt(null, entries + DEPTH, depth + 1);
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
        long entries = entries();
        if (entries != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            if (memory.getInt(null, entries + DEPTH) == token + 1) {
                memory.putInt(null, entries + DEPTH, token);
                return;
            }
        }
        nativePop(token);
    }

    /** The address of the calling thread's entries; 0 if it takes the native way. */
    @ForceInline
    private static long entries() {
        return up ? Thread.currentThread().stackwitnessEntries : 0;
    }

    private static native int nativePush(int idHigh, int idLow);

    private static native void nativePop(int token);

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
