package tiny;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/** The sampling loop. */
final class Profiler implements Runnable {
    private final Options options;
    private final Store store = new Store();

    Profiler(Options options) {
        this.options = options;
    }

    @Override
    public void run() {
        long interval = options.interval().toNanos();
        while (true) {
            long start = System.nanoTime();
            sample();
            // What the sample took is part of the interval. A sample that takes longer is followed by the next one.
            LockSupport.parkNanos(interval - (System.nanoTime() - start));
        }
    }

    private void sample() {
        // One safepoint for all threads; Thread.getStackTrace would need one for each.
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            // Daemon threads are mostly those that wait for work, this one, and the JDK's own. A thread that has
            // not called a Java method yet, or is ending, has no stack.
            if (!thread.isDaemon() && stack.length > 0) {
                store.add(stack);
            }
        });
    }

    /** Prints and writes what was sampled: when the JVM ends. */
    void finish() {
        if (options.table()) {
            System.out.print(store.table());
        }
        options.flamegraph().ifPresent(file -> {
            try {
                store.writeFlameGraph(file);
            } catch (IOException e) {
                System.err.println("tiny-profiler: the flame graph cannot be written: " + e);
            }
        });
    }
}
