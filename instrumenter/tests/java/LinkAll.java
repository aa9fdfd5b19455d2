import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
/** LinkAll LIST [app]: links each class named in LIST (one a line) without initialising it; prints a line for each that is rejected. */
public class LinkAll {
    public static void main(String[] a) throws Exception {
        int n = 0, bad = 0, other = 0;
        ClassLoader loader = a.length > 1 ? ClassLoader.getSystemClassLoader() : null;
        for (String name : Files.readAllLines(Path.of(a[0]))) {
            n++;
            try {
                Class<?> c = Class.forName(name, false, loader);
                c.getDeclaredConstructors();
            } catch (VerifyError | ClassFormatError e) {
                bad++; System.out.println("rejected " + name + ": " + e.toString().lines().limit(1).collect(Collectors.joining()).replaceAll("\\d+", "#"));
            } catch (Throwable e) { other++; System.out.println("other " + name + ": " + e.getClass()); }
        }
        System.out.println("linked " + n + ", rejected " + bad + ", not loadable " + other);
    }
}
