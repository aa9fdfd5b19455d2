package jtreg;

/** jtreg reports a test that throws an exception of this name as passed, with the word "Skipped" and the message. */
public class SkippedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public SkippedException(String message) {
        super(message);
    }
}
