package java.lang;

/** What the light hooks see of {@code Thread} as the agent extends it; only compiled against. */
public class Thread {
    long stackwitnessEntries;

    public static native Thread currentThread();
}
