import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;

/**
 * Loads classes that have equal sizes and different names, runs a method of each, and lets the VM unload them, so that it puts
 * others at their addresses. The argument is the number of classes.
 */
public class Reuse {
  static final String NAME = "Reused00000", METHOD = "named00000";

  /** A loader of one class. */
  static class Loader extends ClassLoader {
    Class<?> define(String name, byte[] bytes) {
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  static byte[] bytesOf(String name) throws IOException {
    try (InputStream in = Reuse.class.getResourceAsStream("/" + name + ".class")) {
      return in.readAllBytes();
    }
  }

  static byte[] replaced(byte[] bytes, String from, String to) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    return text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Prepares a class, which is an event in the frames of the caller. */
  public static void prepare() {
    try {
      create(new Loader().define("Prepared", bytesOf("Prepared")));
    } catch (IOException | ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static Object create(Class<?> type) throws ReflectiveOperationException {
    Constructor<?> constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    return constructor.newInstance();
  }

  public static void main(String[] arguments) throws Exception {
    byte[] template = bytesOf(NAME);
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      String number = String.format("%05d", i);
      byte[] bytes = replaced(template, METHOD, METHOD.replace("00000", number));
      String name = NAME.replace("00000", number);
      Class<?> loaded = new Loader().define(name, replaced(bytes, NAME, name));
      ((Runnable) create(loaded)).run();
      if (i % 64 == 63) System.gc();
    }
  }
}

class Reused00000 implements Runnable {
  @Override
  public void run() {
    named00000();
  }

  static void named00000() {
    Reuse.prepare();
  }
}

class Prepared {
  Prepared() {}
}
