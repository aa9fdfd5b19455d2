package tiny;

/**
 * A profiler in pure Java, of some 300 lines: a daemon thread asks {@link Thread#getAllStackTraces} at an
 * interval. Any platform with Java 17 or later will do. The threads are stopped at safepoints for it, so the
 * profile has the bias of safepoints: {@code stackwitness profile} measures it, in the row {@code java-all}.
 *
 * <p>Build it, and profile a program from its start:
 *
 * <pre>
 *   $JAVA_HOME/bin/javac --release 17 -d classes *.java
 *   $JAVA_HOME/bin/jar --create --file tiny-profiler.jar --manifest MANIFEST.MF -C classes tiny
 *   $JAVA_HOME/bin/java -javaagent:tiny-profiler.jar=interval=10ms,flamegraph=flames.html $PROGRAM
 * </pre>
 *
 * Or attach to a program that runs:
 *
 * <pre>
 *   $JAVA_HOME/bin/jcmd $PID JVMTI.agent_load $PWD/tiny-profiler.jar '"flamegraph=attached.html"'
 * </pre>
 *
 * The results come when the program ends. {@link Options} lists the options.
 */
public final class Main {
    private static boolean started;

    private Main() {}

    /** Called by the JVM before the program's own main method. */
    public static void premain(String arguments) {
        start(arguments);
    }

    /** Called by the JVM when the agent is attached to a program that runs. */
    public static void agentmain(String arguments) {
        start(arguments);
    }

    private static synchronized void start(String arguments) {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException e) {
            // An exception in premain ends the JVM with its stack alone, which says nothing of the options.
            System.err.println("tiny-profiler: " + e.getMessage() + "; nothing is profiled");
            return;
        }
        if (started) {
            System.err.println("tiny-profiler: this program is profiled already");
            return;
        }
        started = true;
        Profiler profiler = new Profiler(options);
        Runtime.getRuntime().addShutdownHook(new Thread(profiler::finish, "Profiler's results"));
        Thread thread = new Thread(profiler, "Profiler");
        thread.setDaemon(true);
        thread.start();
    }
}
