//! `stackwitness judge` on recordings and on true stacks of every JDK found.

mod support;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::calls::{calls, of_jar};
use support::{DEEP, Place, VARIED, jdks, record_fixtures, run};

/// The numbers in the last line of `edges`.
#[derive(Debug, PartialEq)]
struct Sums {
    stacks: u64,
    edges: u64,
    possible: u64,
    impossible: u64,
    unknown: u64,
}

fn sums(stdout: &str) -> Sums {
    let last = stdout.lines().last().unwrap_or_default();
    let numbers = last.split(", ").map(|part| {
        let (name, number) = part.split_once(' ').expect("a name and a number");
        (name, number.parse().expect("a number"))
    });
    let numbers: Vec<(&str, u64)> = numbers.collect();
    let names: Vec<_> = numbers.iter().map(|&(name, _)| name).collect();
    assert_eq!(
        names,
        ["stacks", "edges", "possible", "impossible", "unknown"],
        "{stdout}"
    );
    let [stacks, edges, possible, impossible, unknown] = [0, 1, 2, 3, 4].map(|i| numbers[i].1);
    assert_eq!(edges, possible + impossible + unknown, "{stdout}");
    Sums {
        stacks,
        edges,
        possible,
        impossible,
        unknown,
    }
}

fn feature(jdk: &Path) -> u32 {
    let jdk = scenarios::jdk::Jdk::at(jdk, "a test").unwrap();
    jdk.feature().expect("a release file")
}

/// The number of events with this name, by the JDK's own tool.
fn events(jdk: &Path, file: &Path, name: &str) -> Option<u64> {
    let tool = jdk.join("bin/jfr");
    if !tool.exists() {
        println!("skipped: {} has no jfr", jdk.display());
        return None;
    }
    let output = run(Command::new(tool).arg("summary").arg(file));
    let line = output.stdout.lines().map(str::split_whitespace);
    let mut line = line.map(Vec::from_iter);
    let counts = line.find(|words| words.first() == Some(&name));
    Some(counts.map_or(0, |words| words[1].parse().expect("a count")))
}

#[test]
fn recordings_are_judged_from_the_file_alone() {
    for jdk in jdks() {
        let place = Place::new();
        let file = place.path("recording.jfr");
        let cpu_time = if feature(&jdk) >= 25 {
            ",jdk.CPUTimeSample#enabled=true"
        } else {
            ""
        };
        let recording = format!("{cpu_time},settings=profile");
        record_fixtures(&jdk, &file, &recording, &[DEEP], &VARIED);

        let output = place.run("judge -o edges.json recording.jfr");
        let sums = sums(&output.stdout);
        println!("{}: {sums:?}", jdk.display());
        assert!(
            sums.stacks > 20 && sums.edges > 10 * sums.stacks,
            "{output:?}"
        );
        assert!(
            sums.unknown * 50 <= sums.edges,
            "more than 2 % unknown: {output:?}"
        );
        // Up to JDK 24 JFR samples at any instant: one stack in a hundred or so lacks frames, and that is up to three
        // impossible edges.
        let allowed = if feature(&jdk) >= 25 {
            0
        } else {
            sums.stacks / 20
        };
        assert!(sums.impossible <= allowed, "{output:?}");
        assert_eq!(output.code, Some(i32::from(sums.impossible > 0)));
        let report: serde_json::Value = serde_json::from_str(&place.read("edges.json")).unwrap();
        assert_eq!(report["schema"], 1);
        assert_eq!(report["stacks"], sums.stacks);
        assert_eq!(report["impossible"], sums.impossible);

        let samples = [
            "jdk.ExecutionSample",
            "jdk.NativeMethodSample",
            "jdk.CPUTimeSample",
        ];
        let counts = samples.map(|name| events(&jdk, &file, name));
        if let [Some(java), Some(native), Some(cpu_time)] = counts {
            // A sample that failed has no stack.
            let all = java + native + cpu_time;
            assert!(
                sums.stacks <= all && sums.stacks * 10 > all * 9,
                "{counts:?} {sums:?}"
            );
            assert_eq!(cpu_time > 0, feature(&jdk) >= 25);
        }
    }
}

/// Prints its own stack, by `StackWalker`, from within all kinds of calls.
const WALKER: &str = r#"
    import java.lang.invoke.*;
    import java.lang.reflect.*;
    import java.util.*;
    import java.util.concurrent.*;
    import java.util.function.*;
    import java.util.stream.*;

    public class Walker {
        static final StackWalker WALKER = StackWalker.getInstance(Set.of(
            StackWalker.Option.RETAIN_CLASS_REFERENCE,
            StackWalker.Option.SHOW_HIDDEN_FRAMES));

        static synchronized int here() {
            String start = Thread.currentThread().getName().equals("main") ? "launcher" : "java";
            String frames = WALKER.walk(all -> all.skip(1).map(f -> {
                String bci = f.isNativeMethod() ? "" : ",\"bci\":" + f.getByteCodeIndex();
                return "{\"class\":\"" + f.getClassName() + "\",\"method\":\"" + f.getMethodName()
                    + "\",\"descriptor\":\"" + f.getDescriptor() + "\"" + bci + "}";
            }).collect(Collectors.joining(",")));
            System.out.println("{\"start\":\"" + start + "\",\"frames\":[" + frames + "]}");
            return 1;
        }

        static int caller() { return here(); }

        static class Lazy { static final int VALUE = caller(); }
        interface Shape { int size(); default int twice() { return size() * 2; } }
        record Dot(int n) implements Shape { public int size() { return caller() + n; } }
        static abstract class Base { abstract Object make(); Object run() { return make(); } }
        static class Sub extends Base { @Override Integer make() { return caller(); } }
        static class Loader extends ClassLoader {
            @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
                caller();
                throw new ClassNotFoundException(name);
            }
        }
        static class Failing extends RuntimeException {
            Failing() { super("x" + caller()); }
        }
        private int own(int n) { return n == 0 ? caller() : own(n - 1); }
        static int spread(Object... all) { return caller() + all.length; }

        public static void main(String[] args) throws Throwable {
            caller();
            System.err.println(Lazy.VALUE);
            new Dot(3).twice();
            ((Shape) Walker::caller).twice();
            new Sub().run();
            new Walker().own(20);
            try { throw new Failing(); } catch (Failing e) { }
            try { new Loader().loadClass("nowhere.X"); } catch (ClassNotFoundException e) { }
            Stream.of(3, 1, 2).sorted((a, b) -> caller() + a - b).map(n -> n + caller()).toList();
            IntStream.range(0, 50).parallel().map(n -> n + caller()).sum();
            Map<String, Integer> map = new HashMap<>();
            map.computeIfAbsent("x", k -> caller());
            new TreeMap<Integer, Integer>(Comparator.comparing(n -> n + caller())).put(1, 2);
            Method method = Walker.class.getDeclaredMethod("caller");
            for (int i = 0; i < 40; i++) method.invoke(null);
            Constructor<Failing> constructor = Failing.class.getDeclaredConstructor();
            constructor.newInstance();
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle handle = lookup.findStatic(
                Walker.class, "caller", MethodType.methodType(int.class));
            for (int i = 0; i < 200; i++) {
                int result = (int) handle.invokeExact();
                Object boxed = handle.invoke();
                handle.invokeWithArguments();
            }
            MethodHandle spread = lookup.findStatic(Walker.class, "spread",
                MethodType.methodType(int.class, Object[].class));
            Object boxed = spread.invoke(1, "2", 3L);
            Runnable proxy = (Runnable) Proxy.newProxyInstance(Walker.class.getClassLoader(),
                new Class<?>[] { Runnable.class }, (p, m, a) -> { caller(); return null; });
            proxy.run();
            Supplier<String> text = () -> "a" + caller() + new Object() {
                @Override public String toString() { return "b" + caller(); }
            };
            text.get();
            Thread thread = new Thread(() -> caller());
            thread.start();
            thread.join();
            ExecutorService pool = Executors.newFixedThreadPool(2);
            pool.submit(() -> caller()).get();
            CompletableFuture.supplyAsync(() -> caller(), pool).thenApply(n -> n + caller()).get();
            pool.shutdown();
            Timer timer = new Timer();
            CountDownLatch done = new CountDownLatch(1);
            timer.schedule(new TimerTask() {
                @Override public void run() { caller(); done.countDown(); }
            }, 1);
            done.await();
            timer.cancel();
            Thread late = new Thread(() -> { throw new Failing(); });
            late.setUncaughtExceptionHandler((t, e) -> caller());
            late.start();
            late.join();
        }
    }
"#;

/// Runs [`WALKER`]. Returns its stacks, one on each line, and the place with its classes.
fn true_stacks(jdk: &Path) -> Option<(Place, String)> {
    let place = Place::on(jdk);
    if !place.compiles("Walker", WALKER) {
        return None;
    }
    let mut java = Command::new(jdk.join("bin/java"));
    let lines = run(java
        .args(["-cp", ".", "Walker"])
        .current_dir(place.path("")))
    .ok();
    Some((place, lines))
}

fn judge(place: &Place, lines: &str) -> (Sums, support::Output) {
    place.write("stacks.jsonl", lines);
    let output = place.run("judge --classpath . stacks.jsonl");
    (sums(&output.stdout), output)
}

#[test]
fn true_stacks_are_possible_and_false_ones_are_not() {
    for jdk in jdks() {
        let Some((place, lines)) = true_stacks(&jdk) else {
            continue;
        };
        let (honest, output) = judge(&place, &lines);
        println!("{}: {honest:?}", jdk.display());
        assert!(honest.stacks > 500, "{output:?}");
        assert_eq!(honest.impossible, 0, "{}", output.stdout);
        assert!(honest.unknown * 50 <= honest.edges, "{}", output.stdout);
        assert_eq!(output.code, Some(0));

        // Each stack, without one of its middle frames at a time.
        let mut seen = HashSet::new();
        let mut faulty = Vec::new();
        for line in lines.lines().filter(|line| seen.insert(*line)) {
            let stack: serde_json::Value = serde_json::from_str(line).unwrap();
            let frames = stack["frames"].as_array().unwrap();
            for at in 1..frames.len() - 1 {
                // If one of two equal frames is removed, the stack is the true stack of a shallower
                // recursion.
                if frames[at] == frames[at - 1] || frames[at] == frames[at + 1] {
                    continue;
                }
                let mut fault = stack.clone();
                fault["frames"].as_array_mut().unwrap().remove(at);
                faulty.push(fault.to_string());
            }
        }
        let (found, output) = judge(&place, &faulty.join("\n"));
        println!("{} faults: {found:?}", faulty.len());
        assert_eq!(output.code, Some(1));
        // Each fault breaks one edge. In this program native methods, lambdas or method handles,
        // which can call anything, make half of the calls.
        assert!(found.impossible * 10 > faulty.len() as u64 * 6, "{found:?}");
    }
}

#[test]
fn classes_in_files_of_other_names_are_found() {
    for jdk in jdks() {
        let Some((place, lines)) = true_stacks(&jdk) else {
            continue;
        };
        // As Jython names the files of its modules.
        fs::rename(place.path("Walker.class"), place.path("Walker$py.class")).unwrap();
        let (found, output) = judge(&place, &lines);
        assert_eq!(found.impossible, 0, "{}", output.stdout);
        assert!(found.unknown * 50 <= found.edges, "{}", output.stdout);
    }
}

/// A compiler loads `jrt-fs.jar` of the JDK whose image the compiler reads. The JDK that runs the compiler
/// has classes of the same names, with other code.
#[test]
fn classes_that_read_an_image_are_judged_by_the_code_of_their_jar() {
    for other in jdks() {
        let lines = calls(&of_jar(&other.join("lib/jrt-fs.jar")));
        for jdk in jdks() {
            let (found, output) = judge(&Place::on(&jdk), &lines);
            println!("{} in {}: {found:?}", other.display(), jdk.display());
            assert!(found.stacks > 100, "{output:?}");
            assert_eq!(found.impossible, 0, "{output:?}");
            assert!(found.unknown == 0 || jdk != other, "{output:?}");
        }
    }
}

#[test]
fn stacks_that_cannot_be_judged_are_reported() {
    let Some(jdk) = jdks().into_iter().next() else {
        return;
    };
    let place = Place::new();
    let judge = format!("judge --jdk {} stacks.jsonl", jdk.display());
    // A name of no file is a mistake of the command line.
    place.run(&judge).ended(2);
    place.write("stacks.jsonl", "\n");
    let empty = place.run(&judge).ended(3);
    assert!(empty.stderr.contains("there is no stack"), "{empty:?}");
    place.write("stacks.jsonl", "{\"frames\":[]}\n{\"frames\":7}\n");
    let nonsense = place.run(&judge).ended(3);
    assert!(nonsense.stderr.contains("line 2"), "{nonsense:?}");
    place.run("judge --jdk . stacks.jsonl").ended(2);
}
