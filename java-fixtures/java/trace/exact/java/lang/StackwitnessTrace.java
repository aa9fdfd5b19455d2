package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The hooks that Stackwitness writes into every method, exact mode: each is a call that no compiler
 * inlines, and each compares its entry with the trace stack of the calling thread.
 *
 * <p>Methods whose id alone identifies their entry call {@link #enter}, {@link #exit} and {@link
 * #unwind}. Methods with exception handlers, and some constructors, keep a token in a local
 * variable and call the other hooks.
 *
 * <p>A hook calls a native method of the agent, which does all that a hook has to do. Where a thread
 * runs many hooks a second, the native method allows the next hooks of the thread to do the same
 * work here: so many as the upper half of the word at {@link #HEAD} says. They change the word with
 * one store each, which makes the change of the trace stack visible to the thread's own signal
 * handler. A hook that does not find exactly its own entry calls the native method.
 *
 * <p>The agent adds a field to {@link Thread} that leads to the entries. In virtual threads, and in
 * threads that carry a virtual thread, the field leads to entries that may not be used.
 *
 * <p>The agent defines this class into the boot loader before the module system is up and links the
 * natives before the first hooked class runs. Therefore it has no static initialiser.
 */
public final class StackwitnessTrace {
    /** Offset from the entries of a word: the depth in its lower half, the limit in its upper half: how many hooks may run here. */
    private static final long HEAD = -24;
    /** One hook in the upper half of the word. */
    private static final long ONE_HOOK = 1L << 32;
    /** The size of an entry. */
    private static final long ENTRY = 8;
    /** The part of an entry that is not the method's id: how much of the stack was checked. */
    private static final long CHECKED = 0xffff_ffff_0000_0000L;

    /**
     * What the threads' fields are relative to: a field of 0 means entries that hooks may not use.
     * 0 until the VM is up, because before it has no current thread. The agent sets this field once.
     */
    @Stable
    private static long base;

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
    @DontInline
    public static int push(int idHigh, int idLow) {
        if (base != 0) {
            long entries = entries();
            long head = Unsafe.getUnsafe().getLong(null, entries + HEAD);
            if (head >= ONE_HOOK) {
                return put(entries, head, idHigh, idLow);
            }
        }
        return nativePush(idHigh, idLow);
    }

    /**
     * Normal return: sets the depth back.
     *
     * @param token what {@link #push} returned
     */
    @DontInline
    public static void pop(int token) {
        if (base != 0) {
            long entries = entries();
            long head = Unsafe.getUnsafe().getLong(null, entries + HEAD);
            if (head >= ONE_HOOK && (int) head == token + 1) {
                Unsafe.getUnsafe().putLong(null, entries + HEAD, head - ONE_HOOK - 1);
                return;
            }
        }
        nativePop(token);
    }

    /**
     * {@link #push} for a method that keeps no token.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    @DontInline
    public static void enter(int idHigh, int idLow) {
        if (base != 0) {
            long entries = entries();
            long head = Unsafe.getUnsafe().getLong(null, entries + HEAD);
            if (head >= ONE_HOOK) {
                put(entries, head, idHigh, idLow);
                return;
            }
        }
        nativeEnter(idHigh, idLow);
    }

    /**
     * {@link #pop} for a method that keeps no token: the newest entry with its id goes.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    @DontInline
    public static void exit(int idHigh, int idLow) {
        if (base != 0) {
            long entries = entries();
            long head = Unsafe.getUnsafe().getLong(null, entries + HEAD);
            // There is an entry below the lowest one, whose id is no method's.
            long newest = entries + ((int) head - 1) * ENTRY;
            if (head >= ONE_HOOK
                    && Unsafe.getUnsafe().getInt(null, newest) == (idHigh << 16 | idLow & 0xffff)) {
                Unsafe.getUnsafe().putLong(null, entries + HEAD, head - ONE_HOOK - 1);
                return;
            }
        }
        nativeExit(idHigh, idLow);
    }

    /** Writes an entry above the others, then the word at the head. Returns the depth before. */
    @ForceInline
    private static int put(long entries, long head, int idHigh, int idLow) {
        Unsafe memory = Unsafe.getUnsafe();
        long entry = entries + (int) head * ENTRY;
        // The part about checked frames is that of the entry below.
        long checked = memory.getLong(null, entry - ENTRY) & CHECKED;
        memory.putLong(null, entry, checked | (idHigh << 16 | idLow & 0xffff) & ~CHECKED);
        memory.putLong(null, entries + HEAD, head - ONE_HOOK + 1);
        return (int) head;
    }

    /** The address of the calling thread's entries, once the VM is up. */
    @ForceInline
    private static long entries() {
        return base + Thread.currentThread().stackwitnessEntries;
    }

    private static native int nativePush(int idHigh, int idLow);

    private static native void nativePop(int token);

    private static native void nativeEnter(int idHigh, int idLow);

    private static native void nativeExit(int idHigh, int idLow);

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
