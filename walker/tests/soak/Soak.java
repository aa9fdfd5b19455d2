import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;

/**
 * Threads begin and end, and classes are defined and unloaded, for as many seconds as the argument says. In the end it
 * prints how many of each there were.
 */
public class Soak {
  /**
   * Work that is loaded by a class loader of its own, again and again, or as a hidden class. It has no lambda: a lambda's
   * class lasts as long as the loader of the class that has the lambda (ClassOption.STRONG), and would keep a hidden class.
   */
  public static class Work implements Runnable {
    static long sum;

    public void run() {
      Map<String, Integer> map = new HashMap<>();
      for (int i = 0; i < 2_000; i++) {
        String key = "k" + i % 97;
        map.put(key, map.getOrDefault(key, 0) + i);
      }
      long found = 0;
      for (int value : map.values()) found += value + depth(20 + value % 30);
      sum += found;
      try {
        fail(10);
      } catch (IllegalStateException e) {
        sum += e.getStackTrace().length;
      }
    }

    static int depth(int left) {
      return left == 0 ? 0 : 1 + depth(left - 1);
    }

    static void fail(int left) {
      if (left == 0) throw new IllegalStateException();
      fail(left - 1);
    }
  }

  /** Defines {@link Work} anew. */
  static final class Loader extends ClassLoader {
    Class<?> define(byte[] bytes) {
      return defineClass(Work.class.getName(), bytes, 0, bytes.length);
    }
  }

  static long threads, virtuals, classes;

  static void inThreads(List<? extends Runnable> all, ThreadFactory factory) throws InterruptedException {
    List<Thread> started = new ArrayList<>();
    for (Runnable one : all) {
      Thread thread = factory.newThread(one);
      thread.start();
      started.add(thread);
    }
    for (Thread thread : started) thread.join();
  }

  static ThreadFactory virtualThreads() {
    // JDK 17 has none.
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
      return (ThreadFactory) factory.invoke(builder);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    byte[] bytes;
    try (InputStream in = Soak.class.getResourceAsStream("Soak$Work.class")) {
      bytes = in.readAllBytes();
    }
    ThreadFactory virtual = virtualThreads();
    List<WeakReference<Class<?>>> unloaded = new ArrayList<>();
    long rounds = 0;
    while (System.nanoTime() < end) {
      List<Runnable> work = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Class<?> loaded = new Loader().define(bytes);
        work.add((Runnable) loaded.getConstructor().newInstance());
        if (rounds % 100 == 0) unloaded.add(new WeakReference<>(loaded));
      }
      Class<?> hidden = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
      work.add((Runnable) hidden.getConstructor().newInstance());
      classes += work.size();
      threads += work.size();
      inThreads(work, Thread::new);
      if (virtual != null) {
        virtuals += work.size();
        inThreads(work, virtual);
      }
      rounds++;
      if (rounds % 200 == 0) System.gc();
    }
    System.gc();
    long alive = unloaded.stream().filter(it -> it.get() != null).count();
    System.out.println(
        "threads " + threads + " virtual " + virtuals + " classes " + classes + " alive " + alive + " of " + unloaded.size());
  }
}
