import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javassist.ClassPool;
import javassist.CtBehavior;
import javassist.CtClass;
import javassist.CtConstructor;

/** Hook FOLDER PASSES: hooks every method of every class below FOLDER with Javassist and tells the time of each pass. */
public class Hook {
    public static void main(String[] args) throws Exception {
        List<byte[]> classes = new ArrayList<>();
        try (var files = Files.walk(Path.of(args[0]))) {
            for (var f : files.filter(p -> p.toString().endsWith(".class") && !p.endsWith("module-info.class")).sorted().toList()) {
                classes.add(Files.readAllBytes(f));
            }
        }
        for (int pass = 0; pass < Integer.parseInt(args[1]); pass++) {
            ClassPool pool = new ClassPool(true);
            pool.appendClassPath(args[2]);
            long start = System.nanoTime();
            long cpu = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            long bytes = 0;
            int methods = 0, failed = 0, id = 0;
            for (byte[] b : classes) {
                CtClass c = pool.makeClass(new ByteArrayInputStream(b));
                for (CtBehavior m : c.getDeclaredBehaviors()) {
                    if (m.getMethodInfo().getCodeAttribute() == null) {
                        continue;
                    }
                    id++;
                    try {
                        m.addLocalVariable("sw$", CtClass.intType);
                        String push = "sw$ = java.lang.StackwitnessTrace.push(" + (id >> 16) + ", " + (short) id + ");";
                        if (m instanceof CtConstructor k && k.isConstructor()) {
                            k.insertBeforeBody(push);
                            m.insertAfter("java.lang.StackwitnessTrace.pop(sw$);");
                        } else {
                            m.insertBefore(push);
                            m.insertAfter("java.lang.StackwitnessTrace.pop(sw$);", true);
                        }
                        methods++;
                    } catch (Exception e) {
                        failed++;
                    }
                }
                bytes += c.toBytecode().length;
                c.detach();
            }
            cpu = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
            System.out.printf("pass %d: %d classes, %d methods hooked, %d failed, %d bytes, %.0f ms CPU, %.0f ms%n",
                pass, classes.size(), methods, failed, bytes, cpu / 1e6, (System.nanoTime() - start) / 1e6);
        }
    }
}
