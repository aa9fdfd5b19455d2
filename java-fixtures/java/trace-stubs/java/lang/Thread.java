package java.lang;

/**
 * {@code Thread} with the field that the agent adds for the light hooks. Only the compiler uses
 * this file.
 */
public class Thread {
    long stackwitnessEntries;

    public static native Thread currentThread();

    /** JDK 21 and later. */
    static native Thread currentCarrierThread();
}
