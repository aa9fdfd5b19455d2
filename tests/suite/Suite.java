import java.util.List;

/** Speaks Renaissance's command line: one benchmark of each fate. */
public class Suite {
    private static final List<String> NAMES = List.of("passing", "failing", "crashing", "hanging");

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("--raw-list")) {
            NAMES.forEach(System.out::println);
            return;
        }
        if (args.length != 3 || !args[0].equals("-r")) {
            System.err.println("usage: -r N NAME");
            System.exit(1);
        }
        for (int turn = 0; turn < Integer.parseInt(args[1]); turn++) {
            if (fib(27) != 196418) {
                throw new AssertionError();
            }
        }
        switch (args[2]) {
            case "failing" -> {
                System.out.println("The following benchmarks failed: failing");
                System.exit(1);
            }
            case "crashing" -> {
                var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
                field.setAccessible(true);
                ((sun.misc.Unsafe) field.get(null)).putLong(8, 0);
            }
            case "hanging" -> Thread.sleep(600_000);
            default -> System.out.println("done");
        }
    }
}
