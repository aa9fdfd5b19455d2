package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Where things are: constants to the compilers, once this class is initialised,
 * which the first light hook does when the VM is up.
 */
final class StackwitnessLayout {
    /** Reads and writes the agent's memory. Its own class has no hooks. */
    static final Unsafe MEMORY = Unsafe.getUnsafe();
    /** Where a thread keeps its id; 0 in a thread that is being constructed. */
    static final long THREAD_ID = MEMORY.objectFieldOffset(Thread.class, "tid");
    /** How many ids the table of threads has; it starts with 0, which is nobody's. */
    static final long THREADS = StackwitnessTrace.layout(0);
    /** In a thread's state, in bytes: its depth, an int. */
    static final long DEPTH = StackwitnessTrace.layout(1);
    /** How many entries there is room for, an int. */
    static final long CAPACITY = StackwitnessTrace.layout(2);
    /** The address of the entries, a long; each has 8 bytes. */
    static final long ENTRIES = StackwitnessTrace.layout(3);
    /** Pushes until the next check, an int. */
    static final long COUNTDOWN = StackwitnessTrace.layout(4);
    /** Pops that found what they expected and are not counted elsewhere yet, a long. */
    static final long EVEN_POPS = StackwitnessTrace.layout(5);

    private StackwitnessLayout() {
    }
}
