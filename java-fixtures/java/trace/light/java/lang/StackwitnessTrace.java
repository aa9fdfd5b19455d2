package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The hooks that Stackwitness writes into every method, light mode: {@link #push} and {@link #pop}
 * write the native trace stack of the calling thread themselves, so that the compilers may inline the
 * hooks and the methods that contain them. Nothing forces the compilers: C1 inlines no method of this
 * length, and C2 inlines it in hot code. Inlined everywhere, hooks cost more of the compilers' time
 * than calls cost the program.
 *
 * <p>The agent adds a field to {@link Thread} with the address of the entries. The address is 0 in
 * virtual threads, in threads that carry a virtual thread, and before the VM is up. There, and
 * wherever a check fails, the hooks call native methods, as in the exact mode.
 *
 * <p>The thread's own signal handler may look at the trace stack between any two instructions. As
 * in the exact mode, each change ends with the store of the depth, which makes the change visible.
 * Compilers keep the order of these stores, because they treat all memory outside of the heap as
 * one.
 *
 * <p>The agent defines this class into the boot loader before the module system is up. Therefore it
 * has no static initialiser.
 */
public final class StackwitnessTrace {
    /** Offset of the depth, an int, from the entries. */
    private static final long DEPTH = -16;
    /** Offset of the limit, an int: from this depth on, pushes call the native method. */
    private static final long LIMIT = -12;
    /** The size of an entry. */
    private static final long ENTRY = 8;
    /** The part of an entry that is not the method's id: how much of the stack was checked. */
    private static final long CHECKED = 0xffff_ffff_0000_0000L;

    /** Whether the VM is up. Before, it has no current thread. The agent sets this field. */
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
    public static int push(int idHigh, int idLow) {
        long entries = entries();
        if (entries != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth < memory.getInt(null, entries + LIMIT)) {
                long entry = entries + depth * ENTRY;
                // The part about checked frames is that of the entry below. There is an entry below
                // the lowest one.
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

    /**
     * The address of the calling thread's entries; 0 if the thread must call the native methods.
     */
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

    /** Compares the trace stack with the answers of the walkers at this place. */
    public static native void check();
}
