import java.util.concurrent.locks.LockSupport;

/** Threads that stay in one state each, until the main thread ends the VM. */
public class States {
  static volatile boolean ends;
  static volatile long sum;

  static void start(String name, Runnable work) {
    Thread thread = new Thread(work, "state-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static void await(Object lock, long millis) {
    synchronized (lock) {
      try {
        while (!ends) lock.wait(millis);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  public static void main(String[] args) {
    Object held = new Object();
    start("sleep", () -> sleep(3_600_000));
    start("park", () -> { while (!ends) LockSupport.park(); });
    start("park-timed", () -> { while (!ends) LockSupport.parkNanos(3_600_000_000_000L); });
    start("wait", () -> await(new Object(), 0));
    start("wait-timed", () -> await(new Object(), 3_600_000));
    start("run", () -> { while (!ends) sum++; });
    synchronized (held) {
      start("enter", () -> { synchronized (held) { sum++; } });
      sleep(Long.parseLong(args[0]));
      System.exit(0);
    }
  }
}
