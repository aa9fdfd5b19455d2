/**
 * Calls whose order follows from the depth alone: {@code next} calls the method that {@code choice} gives for the depth, which
 * calls {@code next} for the depth above. The agent {@code shape.c} knows the same order. Argument: milliseconds.
 */
public final class Shape {
    interface Step {
        long step(int depth, int top);
    }

    static final class Even implements Step {
        @Override
        public long step(int depth, int top) {
            return next(depth + 1, top) + 1;
        }
    }

    static final class Odd implements Step {
        @Override
        public long step(int depth, int top) {
            return next(depth + 1, top) ^ depth;
        }
    }

    static class Base {
        long overridden(int depth, int top) {
            return next(depth + 1, top) - 1;
        }
    }

    private static final Step[] STEPS = {new Even(), new Odd()};
    private static final Base BASE = new Base();
    private static final Object LOCK = new Object();
    private static final RuntimeException THROWN = new RuntimeException("no trace", null, false, false) {};

    static int choice(int depth) {
        int mixed = depth * 0x9E3779B9;
        return ((mixed ^ mixed >>> 15) >>> 3) & 7;
    }

    static long next(int depth, int top) {
        if (depth == top) {
            return leaf(depth);
        }
        switch (choice(depth)) {
            case 0:
                return plain(depth, top);
            case 1:
                return large(depth, top, 1, 2, 3, 4, 5, 6, 7, 8, 9L, 1.5, 2.5, 3.5);
            case 2:
                return BASE.overridden(depth, top);
            case 3:
                return STEPS[depth & 1].step(depth, top);
            case 4:
                return locked(depth, top);
            case 5:
                return catching(depth, top);
            case 6:
                return copying(depth, top);
            default:
                return looping(depth, top);
        }
    }

    static long plain(int depth, int top) {
        return next(depth + 1, top);
    }

    static long large(
            int depth, int top, int a, int b, int c, int d, int e, int f, int g, int h, long i, double j, double k, double l) {
        long before = a * b + c * d + e * f + g * h + i * depth;
        double more = j * k + l * depth;
        long result = next(depth + 1, top);
        return result + before + (long) more + a + b + c + d + e + f + g + h;
    }

    static long locked(int depth, int top) {
        synchronized (new Object()) {
            return next(depth + 1, top);
        }
    }

    static long catching(int depth, int top) {
        try {
            long result = next(depth + 1, top);
            if ((result & 3) == 0) {
                throw THROWN;
            }
            return result;
        } catch (RuntimeException thrown) {
            return depth;
        }
    }

    static long copying(int depth, int top) {
        byte[] bytes = new byte[depth + 40];
        byte[] copy = bytes.clone();
        long result = next(depth + 1, top);
        System.arraycopy(bytes, 0, copy, 0, copy.length);
        return result + copy[depth];
    }

    static long looping(int depth, int top) {
        long result = next(depth + 1, top);
        for (int i = 0; i < 60; i++) {
            result = result * 31 + (result >>> 7);
        }
        return result;
    }

    static long leaf(int depth) {
        long result = depth;
        switch (depth & 3) {
            case 0:
                for (int i = 0; i < 300; i++) {
                    result += Long.toString(result + i).hashCode();
                }
                return result;
            case 1:
                return new StringBuilder().append(depth).append("text").reverse().indexOf("t") + System.nanoTime() % 2;
            case 2:
                int[] numbers = new int[60];
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = numbers.length * i % 17;
                }
                java.util.Arrays.sort(numbers);
                return numbers[numbers.length / 2];
            default:
                return Math.round(Math.sin(depth) * 100);
        }
    }

    private static void run(int millis) {
        long end = System.nanoTime() + millis * 1_000_000L;
        long sum = 0;
        for (int round = 0; System.nanoTime() < end; round++) {
            sum += next(0, 1 + round % 90);
        }
        if (sum == 42) {
            System.out.println(LOCK);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int millis = Integer.parseInt(arguments[0]);
        Thread other = new Thread(() -> run(millis), "shape");
        other.start();
        run(millis);
        other.join();
    }
}
