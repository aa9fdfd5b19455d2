/** Value records in arguments and returns: C2 passes their fields, and callees make room for them in their own frames. */
public final class Values {
    value record Point(long x, long y, long z, long t) {
        Point moved(long by) {
            return new Point(x + by, y - by, z ^ by, t * 31);
        }
    }

    private static final int DEPTH = 12;

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            long seed = t;
            threads[t] = new Thread(() -> run(seed, end));
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void run(long seed, long end) {
        long sum = seed;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1_000; i++) {
                Point a = new Point(sum, i, 3, 4);
                Point b = a.moved(i);
                sum += down(a, b, b.moved(1), a.moved(2), DEPTH).x();
                sum += boxed(a, i).t();
            }
        }
        System.out.println(sum == 42 ? "" : "done");
    }

    private static Point down(Point a, Point b, Point c, Point d, int depth) {
        if (depth == 0) {
            return leaf(d, c, b, a);
        }
        Point r = (depth & 1) == 0 ? down(b, c, d, a, depth - 1) : up(c, d, a, b, depth - 1);
        return r.moved(depth);
    }

    private static Point up(Point a, Point b, Point c, Point d, int depth) {
        return depth == 0 ? leaf(a, b, c, d) : down(d, a, b.moved(depth), c, depth - 1);
    }

    private static Point leaf(Point a, Point b, Point c, Point d) {
        long s = 0;
        for (int i = 0; i < 20; i++) {
            s = s * 31 + (a.x() ^ b.y()) + (c.z() ^ d.t()) + i;
        }
        return new Point(s, a.y(), b.z(), c.t());
    }

    private static Point boxed(Object a, int i) {
        return ((Point) a).moved(i);
    }
}
