package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The hooks that Stackwitness writes into every method, light mode: {@link #enter}, {@link #exit},
 * {@link #push} and {@link #pop} write the native trace stack of the calling thread themselves, so
 * that the compilers may inline the hooks and the methods that contain them. Nothing forces the
 * compilers: C1 inlines no method of this length, and C2 inlines it in hot code. Inlined everywhere,
 * hooks cost more of the compilers' time than calls cost the program.
 *
 * <p>As in the exact mode, methods with exception handlers, and some constructors, keep a token in a
 * local variable, and the other methods are named by their id.
 *
 * <p>The agent adds a field to {@link Thread} that leads to the entries that the thread's hooks use
 * now. In a thread that carries a virtual thread, these are the entries of the virtual thread.
 *
 * <p>Most methods have plain hooks, such as {@link #enterPlainly} and {@link #exitPlainly}, which
 * ask nothing. The other hooks ask whether they may change the entries. If not, and before the VM is up,
 * they call native methods, as in the exact mode.
 *
 * <p>The thread's own signal handler may look at the trace stack between any two instructions. As
 * in the exact mode, each change ends with the store of the depth, which makes the change visible.
 * Compilers keep the order of these stores, because they treat all memory outside of the heap as
 * one.
 *
 * <p>The code has as few branches as possible, because each costs the compilers' time in every
 * method that contains it, and a call of a native method costs most of all: it needs the state of
 * all inlined frames. So no value depends on a branch, and {@link #base} and {@link #threads} are
 * constants.
 *
 * <p>The agent defines this class into the boot loader before the module system is up. Therefore it
 * has no static initialiser.
 */
public final class StackwitnessTrace {
    /** Offset of the depth, an int, from the entries. */
    private static final long DEPTH = -24;
    /** Offset of the limit, an int: from this depth on, hooks that ask call the native methods. */
    private static final long LIMIT = -20;
    /** Offset of the mask, an int: the index of an entry is a depth, modulo the mask and one. */
    private static final long MASK = -16;
    /** Offset of an int with the differences of ids, or of depths, that plain pops have found. */
    private static final long MISMATCHES = -12;
    /** The size of an entry. */
    private static final long ENTRY = 8;
    /** The part of an entry that is not the method's id: how much of the stack was checked. */
    private static final long CHECKED = 0xffff_ffff_0000_0000L;
    /** A value of {@link #threads}: hooks use the entries of {@link Thread#currentCarrierThread}. */
    private static final long CARRIERS = 2;

    /**
     * What the threads' fields are relative to: a field of 0 means entries that belong to no thread,
     * and whose limit forbids everything. 0 until the VM is up, because before it has no current
     * thread. The agent sets this field once, so that compilers may take the address for a constant.
     */
    @Stable
    private static long base;

    /**
     * Which threads have the field: {@link #CARRIERS}, or 1 in a VM without virtual threads. The agent
     * sets this field once, before {@link #base}.
     */
    @Stable
    private static long threads;

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
        if (base != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            long entries = entries();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth < memory.getInt(null, entries + LIMIT)) {
                put(memory, entries, depth, idHigh, idLow);
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
        if (base != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            long entries = entries();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth == token + 1 && depth <= memory.getInt(null, entries + LIMIT)) {
                memory.putInt(null, entries + DEPTH, token);
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
    public static void enter(int idHigh, int idLow) {
        if (base != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            long entries = entries();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth < memory.getInt(null, entries + LIMIT)) {
                put(memory, entries, depth, idHigh, idLow);
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
    public static void exit(int idHigh, int idLow) {
        if (base != 0) {
            Unsafe memory = Unsafe.getUnsafe();
            long entries = entries();
            int depth = memory.getInt(null, entries + DEPTH);
            if (depth <= memory.getInt(null, entries + LIMIT)
                    && id(memory, entries, depth - 1) == id(idHigh, idLow)) {
                memory.putInt(null, entries + DEPTH, depth - 1);
                return;
            }
        }
        nativeExit(idHigh, idLow);
    }

    /**
     * {@link #push} that asks nothing.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     * @return the depth before, the token for the other hooks of this call
     */
    public static int pushPlainly(int idHigh, int idLow) {
        if (base == 0) {
            return nativePush(idHigh, idLow);
        }
        Unsafe memory = Unsafe.getUnsafe();
        long entries = entries();
        int depth = memory.getInt(null, entries + DEPTH);
        put(memory, entries, depth, idHigh, idLow);
        return depth;
    }

    /**
     * {@link #pop} that asks nothing. If the depth is not what it has to be, the difference stays.
     *
     * @param token what {@link #pushPlainly} returned
     */
    public static void popPlainly(int token) {
        if (base == 0) {
            nativePop(token);
            return;
        }
        Unsafe memory = Unsafe.getUnsafe();
        long entries = entries();
        int difference = memory.getInt(null, entries + DEPTH) ^ token + 1;
        int mismatches = memory.getInt(null, entries + MISMATCHES) | difference;
        memory.putInt(null, entries + MISMATCHES, mismatches);
        memory.putInt(null, entries + DEPTH, token);
    }

    /**
     * {@link #enter} that asks nothing.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    public static void enterPlainly(int idHigh, int idLow) {
        if (base == 0) {
            nativeEnter(idHigh, idLow);
            return;
        }
        Unsafe memory = Unsafe.getUnsafe();
        long entries = entries();
        put(memory, entries, memory.getInt(null, entries + DEPTH), idHigh, idLow);
    }

    /**
     * {@link #exit} that asks nothing: the newest entry goes. If it is not of this method, the
     * difference of the ids stays.
     *
     * @param idHigh the upper bits of the method's id
     * @param idLow  its lower 16 bits
     */
    public static void exitPlainly(int idHigh, int idLow) {
        if (base == 0) {
            nativeExit(idHigh, idLow);
            return;
        }
        Unsafe memory = Unsafe.getUnsafe();
        long entries = entries();
        int newest = memory.getInt(null, entries + DEPTH) - 1;
        int difference = id(memory, entries, newest) ^ id(idHigh, idLow);
        int mismatches = memory.getInt(null, entries + MISMATCHES) | difference;
        memory.putInt(null, entries + MISMATCHES, mismatches);
        memory.putInt(null, entries + DEPTH, newest);
    }

    /** Writes an entry above the others, then the depth. */
    @ForceInline
    private static void put(Unsafe memory, long entries, int depth, int idHigh, int idLow) {
        long entry = entry(memory, entries, depth);
        // The part about checked frames is that of the entry below. There is one below the lowest.
        long checked = memory.getLong(null, entry - ENTRY) & CHECKED;
        memory.putLong(null, entry, checked | id(idHigh, idLow) & ~CHECKED);
        memory.putInt(null, entries + DEPTH, depth + 1);
    }

    /** The id in an entry. */
    @ForceInline
    private static int id(Unsafe memory, long entries, int index) {
        return memory.getInt(null, entry(memory, entries, index));
    }

    /** The address of an entry. Whatever the index, it is one of the entries. */
    @ForceInline
    private static long entry(Unsafe memory, long entries, int index) {
        return entries + (index & memory.getInt(null, entries + MASK)) * ENTRY;
    }

    @ForceInline
    private static int id(int idHigh, int idLow) {
        return idHigh << 16 | idLow & 0xffff;
    }

    /** The address of the calling thread's entries, once the VM is up. */
    @ForceInline
    private static long entries() {
        Thread thread = threads == CARRIERS ? Thread.currentCarrierThread() : Thread.currentThread();
        return base + thread.stackwitnessEntries;
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
