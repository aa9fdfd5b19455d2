//! What `stackwitness judge` costs on a large recording. Measures, and never fails on a number.
//!
//! `cargo bench --bench recordings [-- STACKS]`: a program makes a flight recording of 100,000
//! different stacks (or so many) of 250 frames. The benchmark prints the CPU time and the largest
//! resident set of `edges`, once with the class file that ran, and once with a class file of the same
//! name in which a sixteenth of all calls go elsewhere, so that each of these edges is impossible.
//!
//! `JAVA_HOME` names the JDK, which needs a compiler. Without it the newest JDK found is used.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Frames in a stack. JFR keeps 256 frames here.
const DEPTH: u32 = 250;

/// Methods of the program, and calls in each.
const METHODS: u32 = 16;

/// Where the kernel counts time in these units a second, on all Linux systems.
const TICKS: f64 = 100.0;

fn main() {
    let Ok(jdk) = scenarios::jdk::Jdk::find(None) else {
        println!("skipped: no JDK found");
        return;
    };
    let (java, javac) = (jdk.java(), jdk.home().join("bin/javac"));
    if !javac.exists() {
        println!("skipped: {} has no compiler", jdk.home().display());
        return;
    }
    let mut numbers = std::env::args().filter_map(|arg| arg.parse::<u64>().ok());
    let stacks = numbers.next().unwrap_or(100_000);
    let dir = tempfile::tempdir().expect("a folder for the recording");
    let classes = [false, true].map(|moved| {
        let folder = dir.path().join(if moved { "other" } else { "own" });
        fs::create_dir(&folder).expect("it is ours");
        let source = folder.join("Deep.java");
        fs::write(&source, program(moved)).expect("it is ours");
        ends_well(Command::new(&javac).arg("-d").arg(&folder).arg(&source));
        folder
    });
    let recording = dir.path().join("deep.jfr");
    let start = format!("filename={},settings=none", recording.display());
    ends_well(
        Command::new(java)
            .arg("-XX:FlightRecorderOptions:stackdepth=256")
            .arg(format!("-XX:StartFlightRecording:{start}"))
            .arg("-cp")
            .arg(&classes[0])
            .arg("Deep")
            .args([stacks.to_string(), DEPTH.to_string()]),
    );
    for (folder, name) in classes.iter().zip(["own class", "other class"]) {
        println!("{name}: {}", judge(jdk.home(), folder, &recording));
    }
}

/// A program whose methods call each other by the bits of a number. With `moved` each method has one
/// call to another method.
fn program(moved: bool) -> String {
    let mut source = "public class Deep {
        @jdk.jfr.Name(\"Deep\") @jdk.jfr.StackTrace(true) static class Mark extends jdk.jfr.Event {}
        static long next(long b) { return b * 6364136223846793005L + 1442695040888963407L; }
        static void leaf() { Mark mark = new Mark(); mark.begin(); mark.commit(); }
        public static void main(String[] args) {
            int stacks = Integer.parseInt(args[0]), depth = Integer.parseInt(args[1]);
            for (int i = 0; i < stacks; i++) m0(depth, next(i * 0x9E3779B97F4A7C15L));
        }\n"
    .to_owned();
    for method in 0..METHODS {
        let _ = write!(
            source,
            "static void m{method}(int depth, long bits) {{
                if (depth == 0) {{ leaf(); return; }}
                switch ((int) (bits >>> 40) & {}) {{",
            METHODS - 1
        );
        for case in 0..METHODS {
            let callee = (case + u32::from(moved && case == method)) % METHODS;
            let _ = write!(
                source,
                "case {case}: m{callee}(depth - 1, next(bits)); break;"
            );
        }
        source += "} }\n";
    }
    source + "}"
}

/// The costs of `edges`, and its last line.
fn judge(jdk: &Path, classes: &Path, recording: &Path) -> String {
    let out = classes.join("out.txt");
    let output = fs::File::create(&out).expect("it is ours");
    let mut child = Command::new(env!("CARGO_BIN_EXE_stackwitness"))
        .args(["judge", "--event", "Deep", "--jdk"])
        .arg(jdk)
        .arg("--classpath")
        .arg(classes)
        .arg(recording)
        .stdout(output)
        .spawn()
        .expect("it starts");
    let proc = Path::new("/proc").join(child.id().to_string());
    let mut peak = 0;
    // The kernel keeps the times of an ended process until it is waited for.
    let seconds = loop {
        let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        let stat = fs::read_to_string(proc.join("stat")).expect("it was not waited for");
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        if fields[0] == "Z" {
            let ticks = |at: usize| fields[at].parse::<f64>().unwrap_or(f64::NAN);
            break (ticks(11) + ticks(12)) / TICKS;
        }
        thread::sleep(Duration::from_millis(5));
    };
    child.wait().expect("it has ended");
    let text = fs::read_to_string(out).unwrap_or_default();
    let last = text.lines().last().unwrap_or("no result");
    format!("{seconds:.2} s of CPU time, {} MB; {last}", peak / 1024)
}

fn ends_well(command: &mut Command) {
    let status = command.status().expect("it starts");
    assert!(status.success(), "{command:?}");
}
