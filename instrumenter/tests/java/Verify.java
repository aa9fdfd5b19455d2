import java.lang.classfile.*;
import java.lang.constant.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
/** Verify ORIGINAL REWRITTEN: ClassFile.verify on both trees; superclasses come from ORIGINAL, then this JVM. A class counts as newly rejected if a message, without its numbers, is new. */
public class Verify {
    static List<String> errors(ClassFile cf, Path p) {
        try { return cf.verify(p).stream().map(e -> String.valueOf(e.getMessage()).lines().findFirst().orElse("").replaceAll("@\\d+", "@").replaceAll("\\d+", "#")).toList(); }
        catch (Throwable e) { return List.of(e.toString().replaceAll("\\d+", "#")); }
    }
    public static void main(String[] a) throws Exception {
        Path orig = Path.of(a[0]), rew = Path.of(a[1]);
        Map<String, Path> index = new HashMap<>();
        List<String> roots = new ArrayList<>(List.of(a[0]));
        for (int i = 2; i < a.length; i++) roots.add(a[i]);
        for (var r : roots) {
            Path root = Path.of(r);
            try (var s = Files.walk(root)) {
                s.filter(p -> p.toString().endsWith(".class")).forEach(p -> {
                    Path rel = root.relativize(p);
                    // one leading component for each way the tree may be nested (module or jar name)
                    for (int k = 0; k < Math.min(2, rel.getNameCount()); k++)
                        index.putIfAbsent(rel.subpath(k, rel.getNameCount()).toString(), p);
                });
            }
        }
        var resolver = ClassHierarchyResolver.ofResourceParsing((ClassDesc d) -> {
            var s = d.descriptorString(); var p = index.get(s.substring(1, s.length() - 1) + ".class");
            try { return p == null ? null : Files.newInputStream(p); } catch (Exception e) { return null; }
        }).orElse(ClassHierarchyResolver.defaultResolver()).cached();
        var cf = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver));
        List<Path> files;
        try (var s = Files.walk(rew)) { files = s.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList()); }
        int n = 0, bad = 0, before = 0;
        for (var f : files) {
            n++;
            var now = new ArrayList<>(errors(cf, f));
            if (now.isEmpty()) continue;
            var was = errors(cf, orig.resolve(rew.relativize(f)));
            if (!was.isEmpty()) before++;
            now.removeAll(was);
            if (now.isEmpty()) continue;
            bad++;
            if (bad < 20) System.out.println(f + ": " + now.get(0) + "   [before: " + was + "]");
        }
        System.out.println("verified " + n + ", newly rejected " + bad + ", rejected before " + before);
        System.exit(bad == 0 ? 0 : 1);
    }
}
