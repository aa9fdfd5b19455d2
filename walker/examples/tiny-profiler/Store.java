package tiny;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What was sampled: how often each method was there, and the tree of all stacks. */
final class Store {
    /** Browsers cannot show more. */
    private static final int MAX_FLAMEGRAPH_DEPTH = 100;
    private static final int ROWS = 20;
    /** A page that shows the tree in place of DATA. */
    private static final String PAGE = """
            <!doctype html>
            <meta charset="utf-8">
            <title>Flame graph</title>
            <style>
              div { position: absolute; height: 16px; overflow: hidden; font: 11px sans-serif; white-space: nowrap;
                    border: 1px solid #fff; background: #f96; box-sizing: border-box }
            </style>
            <body>
            <script>
              function draw(node, x, width, y) {
                const box = document.createElement('div');
                box.textContent = node.name;
                box.title = node.name + ': ' + node.value;
                box.style.cssText += `left:${x}%;width:${width}%;top:${y * 16}px`;
                document.body.append(box);
                for (const child of node.children) {
                  const part = width * child.value / node.value;
                  if (part > 0.1) draw(child, x, part, y + 1);
                  x += part;
                }
              }
              draw(DATA, 0, 100, 0);
            </script>
            """;

    /** How often a method was in a stack, and how often on its top. */
    private static final class Count {
        long samples;
        long onTop;
    }

    /** A call path: the samples that went through it, and its callees. */
    private static final class Node {
        final Map<String, Node> children = new HashMap<>();
        long samples;
    }

    private final Map<String, Count> methods = new HashMap<>();
    private final Node root = new Node();

    /** Adds a sample: the frames of a thread, the top first. */
    synchronized void add(StackTraceElement[] stack) {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < stack.length; i++) {
            String method = name(stack[i]);
            Count count = methods.computeIfAbsent(method, any -> new Count());
            // A recursive method is in the stack once.
            if (seen.add(method)) {
                count.samples++;
            }
            if (i == 0) {
                count.onTop++;
            }
        }
        Node node = root;
        node.samples++;
        int end = Math.max(0, stack.length - MAX_FLAMEGRAPH_DEPTH);
        for (int i = stack.length - 1; i >= end; i--) {
            node = node.children.computeIfAbsent(name(stack[i]), any -> new Node());
            node.samples++;
        }
    }

    private static String name(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }

    /** The methods that were in the most samples, with their share of all samples. */
    synchronized String table() {
        StringBuilder text = new StringBuilder("===== method table ======\n");
        text.append(String.format(Locale.ROOT, "Total samples: %d%n", root.samples));
        text.append(String.format(Locale.ROOT, "%-60s %10s %10s %10s %10s%n", "Method", "Samples", "Per cent", "On top", "Per cent"));
        methods.entrySet().stream()
                .sorted((a, b) -> Long.compare(b.getValue().samples, a.getValue().samples))
                .limit(ROWS)
                .forEach(entry -> {
                    Count count = entry.getValue();
                    text.append(String.format(Locale.ROOT, "%-60s %10d %10.2f %10d %10.2f%n", entry.getKey(),
                            count.samples, 100.0 * count.samples / root.samples,
                            count.onTop, 100.0 * count.onTop / root.samples));
                });
        return text.toString();
    }

    /** Writes a page that shows the tree, and needs nothing else. */
    synchronized void writeFlameGraph(Path file) throws IOException {
        StringBuilder tree = new StringBuilder();
        append("all", root, tree);
        Files.writeString(file, PAGE.replace("DATA", tree));
    }

    private static void append(String name, Node node, StringBuilder json) {
        json.append("{\"name\":\"");
        // JVMS 4.2.2: a name may have any character but . ; [ and /, those that end a script or a string among them.
        name.chars().forEach(c -> {
            if (c < ' ' || c == '"' || c == '\\' || c == '<') {
                json.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                json.append((char) c);
            }
        });
        json.append("\",\"value\":").append(node.samples).append(",\"children\":[");
        String separator = "";
        for (Map.Entry<String, Node> child : node.children.entrySet()) {
            json.append(separator);
            append(child.getKey(), child.getValue(), json);
            separator = ",";
        }
        json.append("]}");
    }
}
