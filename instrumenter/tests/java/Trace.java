import java.util.Arrays;

/** Hook methods that keep the trace stack and fail where it is not what it must be. */
public final class Trace {
    private static int depth;
    private static int[] ids = new int[16];
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
        if (depth == ids.length) {
            ids = Arrays.copyOf(ids, 2 * depth);
        }
        ids[depth] = id(high, low);
        return depth++;
    }

    private static int id(int high, int low) {
        return high << 16 | low & 0xffff;
    }

    public static void enter(int high, int low) {
        push(high, low);
    }

    public static void exit(int high, int low) {
        expect(depth > 0 && ids[depth - 1] == id(high, low), "exit at depth " + depth);
        depth--;
    }

    public static Throwable unwind(Object exception, int high, int low) {
        expect(exception instanceof Throwable, "unwind without exception");
        // Constructors can't say that super(...) threw: deeper is allowed.
        do {
            expect(depth > 0, "unwind without its entry");
        } while (ids[--depth] != id(high, low));
        return (Throwable) exception;
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
