import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jtreg.SkippedException;

/*
 * @test
 * @summary Are the stacks true that AsyncGetCallTrace and JVMTI return?
 * @requires os.family == "linux" & (os.arch == "amd64" | os.arch == "x86_64")
 * @library /lib
 * @build jtreg.SkippedException
 * @run main/othervm/timeout=1800 Stackwitness
 */

/**
 * Runs the small programs of {@code test.toml} on the JDK under test, with the agent that knows each thread's true stack.
 *
 * <p>The test passes if every layer is within its budget (README.md), fails if one is over it or if the JVM crashes, and is
 * skipped if the JVM could not be judged. Standard output has a line for each reason and for each kind of mismatch.
 */
public final class Stackwitness {
    /** More options of {@code stackwitness run}, separated by spaces: {@code jtreg -e:STACKWITNESS_OPTIONS=...}. */
    private static final String OPTIONS = "STACKWITNESS_OPTIONS";

    private static final Path OUT = Path.of("stackwitness-out");

    public static void main(String[] args) throws IOException, InterruptedException {
        Path root = Path.of(System.getProperty("test.root"));
        Path program = root.resolve("native/stackwitness");
        if (!Files.isExecutable(program)) {
            throw new SkippedException(program + " is absent: export the test again");
        }
        ProcessBuilder builder = new ProcessBuilder(command(root, program));
        String nativePath = System.getProperty("test.nativepath");
        if (nativePath != null && Files.exists(Path.of(nativePath, "libstackwitness_agent.so"))) {
            builder.environment().put("STACKWITNESS_AGENT", nativePath + "/libstackwitness_agent.so");
        }
        int code = run(builder.inheritIO());
        Path lines = OUT.resolve("lines.txt");
        String reason = "see the output";
        if (Files.exists(lines)) {
            List<String> all = Files.readAllLines(lines);
            all.forEach(System.out::println);
            reason = all.isEmpty() ? reason : all.get(0);
        }
        switch (code) {
            case 0 -> System.out.println("every layer is within its budget");
            case 1 -> throw new RuntimeException("false stacks: " + reason);
            case 3 -> throw new SkippedException("could not judge this JVM: " + reason);
            case 4 -> throw new RuntimeException("the JVM crashed or hung: " + reason);
            default -> throw new RuntimeException("stackwitness ended with exit code " + code + ": " + reason);
        }
    }

    private static List<String> command(Path root, Path program) {
        List<String> command = new ArrayList<>(List.of(
                program.toString(), "run",
                "--scenario", root.resolve("test.toml").toString(),
                "--jdk", System.getProperty("test.jdk"),
                "--out", OUT.toString(),
                "--gate", "--render", "lines"));
        // The flags of `jtreg -vmoptions` and `-javaoptions`.
        String flags = (System.getProperty("test.vm.opts", "") + " " + System.getProperty("test.java.opts", "")).strip();
        if (!flags.isEmpty()) {
            Collections.addAll(command, "--flags", flags);
        }
        String options = System.getenv().getOrDefault(OPTIONS, "").strip();
        if (!options.isEmpty()) {
            Collections.addAll(command, options.split("\\s+"));
        }
        return command;
    }

    /** Waits for the end of a process. The process ends with this JVM, which jtreg ends after the test's timeout. */
    private static int run(ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        if (!process.waitFor(1, TimeUnit.HOURS)) {
            process.destroyForcibly();
            throw new RuntimeException("stackwitness did not end within an hour");
        }
        return process.exitValue();
    }
}
