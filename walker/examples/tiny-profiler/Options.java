package tiny;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of the agent, separated by commas:
 *
 * <ul>
 *   <li>{@code interval=10ms}: time between two rounds of samples: 10ms, 0.01s, 500us; a bare number is in
 *       milliseconds
 *   <li>{@code flamegraph=FILE}: where the flame graph goes, an HTML page; without it there is none
 *   <li>{@code table=true}: whether to print the table of methods: true or false
 * </ul>
 */
record Options(Duration interval, Optional<Path> flamegraph, boolean table) {

    /** Throws IllegalArgumentException, whose message names the option, for what is not an option. */
    static Options parse(String arguments) {
        Duration interval = Duration.ofMillis(10);
        Optional<Path> flamegraph = Optional.empty();
        boolean table = true;
        if (arguments == null || arguments.isBlank()) {
            return new Options(interval, flamegraph, table);
        }
        for (String argument : arguments.split(",")) {
            String[] parts = argument.split("=", 2);
            String value = parts.length == 2 ? parts[1] : "";
            switch (parts[0]) {
                case "interval" -> interval = interval(value);
                case "flamegraph" -> flamegraph = Optional.of(Path.of(nonEmpty("flamegraph", value)));
                case "table" -> table = truth("table", value);
                default -> throw new IllegalArgumentException(
                        "unknown option \"" + argument + "\": there are interval, flamegraph and table");
            }
        }
        return new Options(interval, flamegraph, table);
    }

    private static Duration interval(String value) {
        String number = value.replaceFirst("(us|ms|s)$", "");
        double micros = switch (value.substring(number.length())) {
            case "us" -> 1;
            case "s" -> 1_000_000;
            default -> 1_000;
        };
        try {
            long nanos = Math.round(Double.parseDouble(number) * micros * 1_000);
            if (nanos > 0) {
                return Duration.ofNanos(nanos);
            }
        } catch (NumberFormatException e) {
            // The message below is for it, too.
        }
        throw new IllegalArgumentException("interval=\"" + value + "\" is no time like 10ms, 0.01s or 500us");
    }

    private static String nonEmpty(String name, String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(name + " needs a file");
        }
        return value;
    }

    private static boolean truth(String name, String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException(name + " is true or false, and not \"" + value + "\"");
        };
    }
}
