import java.util.ArrayDeque;

/** Hook methods that keep the trace stack's depth and fail where it is not what it must be. */
public final class Trace {
    private static int depth;
    private static long pushes;

    private static void expect(boolean holds, String what) {
        if (!holds) {
            System.out.println("trace stack broken: " + what);
            System.out.flush();
            Runtime.getRuntime().halt(9);
        }
    }

    public static int push(int high, int low) {
        pushes++;
        return depth++;
    }

    public static void pop(int before) {
        expect(depth == before + 1, "pop at depth " + depth + " of " + before);
        depth = before;
    }

    public static void thrown(Object exception, int before) {
        expect(exception instanceof Throwable, "thrown without exception");
        // Constructors can't say that super(...) threw: deeper is allowed.
        expect(depth > before, "thrown at depth " + depth + " of " + before);
        depth = before;
    }

    public static void caught(Object exception, int before) {
        expect(exception instanceof Throwable, "caught without exception");
        expect(depth > before, "caught at depth " + depth + " of " + before);
        depth = before + 1;
    }

    public static void check() {
        expect(depth > 0, "check at depth " + depth);
    }

    /** Ends the run: the stack must be empty. */
    public static void end() {
        expect(depth == 0, "end at depth " + depth);
        System.err.println("pushes " + pushes);
    }
}
