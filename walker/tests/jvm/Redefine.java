import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Redefines a class again and again: while its methods are on the stack, and while they are not, so that the VM frees the methods
 * of earlier versions and makes new ones at their addresses. The argument is the number of versions.
 */
public class Redefine {
  static final String NAME = "Redefined", VERSION = "version00000";

  /** Of the agent: gives the class these bytes. */
  static native void redefine(Class<?> type, byte[] bytes);

  static byte[] template;
  static int version;

  static byte[] next() {
    String text = new String(template, StandardCharsets.ISO_8859_1);
    String number = String.format("version%05d", ++version);
    return text.replace(VERSION, number).getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Stacks with all methods of the class: of the version that runs, and where this version is obsolete. */
  static void seen() {
    Reuse.prepare();
    redefine(Redefined.class, next());
    Reuse.prepare();
  }

  public static void main(String[] arguments) throws IOException {
    try (InputStream in = Redefine.class.getResourceAsStream("/" + NAME + ".class")) {
      template = in.readAllBytes();
    }
    int count = Integer.parseInt(arguments[0]);
    while (version < count) {
      redefine(Redefined.class, next());
      Redefined.first();
      if (version % 64 < 3) System.gc();
    }
  }
}

class Redefined {
  static String version = "version00000";

  static void first() {
    if ("version00000" != version) second();
  }

  static void second() {
    if ("version00000" != version) third();
  }

  static void third() {
    if ("version00000" != version) fourth();
  }

  static void fourth() {
    if ("version00000" != version) fifth();
  }

  static void fifth() {
    if ("version00000" != version) same();
  }

  /** Equal in all versions. */
  static void same() {
    Redefine.seen();
  }
}
