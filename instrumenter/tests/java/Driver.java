import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;

/** Runs every method of every generated class in a folder and prints what it returns or throws. */
public class Driver {
    static class Loader extends ClassLoader {
        Class<?> define(byte[] b) {
            return defineClass(null, b, 0, b.length);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int n = 0; Files.exists(Path.of(args[0], n + ".class")); n++) {
            Class<?> c = new Loader().define(Files.readAllBytes(Path.of(args[0], n + ".class")));
            for (int i = 0; i < c.getDeclaredMethods().length; i++) {
                Method m;
                try {
                    m = c.getMethod("m" + i, int.class, long.class, double.class, Object.class);
                } catch (NoSuchMethodException e) {
                    continue;
                }
                for (int p : new int[] {0, 1, -7, 100}) {
                    String result;
                    try {
                        result = String.valueOf(m.invoke(null, p, 3L * p, p / 2.0, "o"));
                    } catch (InvocationTargetException e) {
                        result = e.getCause().toString();
                    }
                    System.out.println(n + "." + m.getName() + "(" + p + ") = " + result);
                }
            }
        }
        if (args.length > 1) {
            Trace.end();
        }
    }
}
