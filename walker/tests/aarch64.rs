//! The library on aarch64, in JVMs that an emulator runs on any machine.
//!
//! `STACKWITNESS_TEST_AARCH64_JDKS=/a/jdk:/another/jdk` names runtimes for aarch64 Linux of JDK 21 or later. The tests need
//! `qemu-aarch64`, `aarch64-linux-gnu-gcc` and the Rust target, and build the library for it.

use classfile_testing::jdk::Jdk;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;
use test_support::{Deadline, run};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// Where Debian's cross compiler has the libraries of the other architecture.
const SYSTEM: &str = "/usr/aarch64-linux-gnu";

/// Compilers and interpreters.
const FLAGS: [&str; 3] = ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"];

/// Fixtures that call in many ways, allocate and throw.
const FIXTURES: [&str; 9] = [
    java_fixtures::MAIN_CLASS,
    "mutual-recursion",
    "exceptions-up",
    "streams",
    "method-handles",
    "reflection",
    "deopt-hierarchy",
    "--millis",
    "700",
];

fn walker() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library and the fixtures, which are made once.
struct Made {
    dir: TempDir,
    jar: PathBuf,
    jdk: Jdk,
}

/// What the tests need; `None`, and why, if something is absent.
fn made() -> Option<(&'static Made, Vec<PathBuf>)> {
    let Some(jdks) = env::var_os("STACKWITNESS_TEST_AARCH64_JDKS") else {
        println!("skipped: STACKWITNESS_TEST_AARCH64_JDKS names no runtime for aarch64");
        return None;
    };
    for tool in [COMPILER, EMULATOR] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("skipped: there is no {tool}");
            return None;
        }
    }
    static MADE: OnceLock<Made> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder");
        let target = walker().join("../target");
        let built = run(Command::new(env!("CARGO"))
            .current_dir(walker())
            .args(["build", "--package", "libasgst", "--target", TARGET])
            .arg("--target-dir")
            .arg(&target)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER));
        built.ok();
        let library = target.join(TARGET).join("debug/libasgst.so");
        std::fs::copy(library, dir.path().join("libasgst.so.0")).expect("the library");
        let installed = java_fixtures::write_to(dir.path()).expect("fixtures");
        // Headers and a compiler: classes are the same everywhere, and not all runtimes have them.
        let jdk = Jdk::all().into_iter().next().expect("a JDK");
        let shape = walker().join("tests/jvm/Shape.java");
        jdk.javac(&["--release", "17"], dir.path(), &[&shape]);
        Made {
            jar: installed.fixtures_jar,
            dir,
            jdk,
        }
    });
    Some((made, env::split_paths(&jdks).collect()))
}

/// Runs a program with its arguments under an agent of `tests/jvm`, and returns what it printed.
fn emulate(
    made: &Made,
    jdk: &Path,
    [agent, options]: [&str; 2],
    flags: &[&str],
    program: &[&str],
) -> String {
    let folder = made.dir.path();
    let library = folder.join(agent).with_extension("so");
    let include = made.jdk.home.join("include");
    let built = run(Command::new(COMPILER)
        .args([
            "-std=gnu11",
            "-O1",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .arg("-o")
        .arg(&library)
        .arg(walker().join("tests/jvm").join(agent))
        .arg("-I")
        .arg(walker().join("include"))
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("linux"))
        .arg(folder.join("libasgst.so.0"))
        .arg(format!("-Wl,-rpath,{}", folder.display())));
    built.ok();
    let mut command = Command::new(EMULATOR);
    command
        .args(["-L", SYSTEM])
        .arg(jdk.join("bin/java"))
        .arg(format!("-agentpath:{}={options}", library.display()))
        .args(flags)
        .arg("-cp")
        .arg(env::join_paths([folder, &made.jar]).expect("a path"))
        .args(program)
        .env_remove("JAVA_TOOL_OPTIONS");
    let output = run(&mut command);
    output.ok()
}

/// The number that follows `name` in `text`.
fn number(text: &str, name: &str) -> u64 {
    let mut words = text.split_ascii_whitespace();
    words
        .find(|&word| word == name)
        .and_then(|_| words.next()?.parse().ok())
        .unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Runs the program until `is_enough`, and returns the sums of the numbers that follow `names`.
fn sums<const N: usize>(
    names: [&str; N],
    is_enough: impl Fn([u64; N]) -> bool,
    emulate: impl Fn() -> String,
) -> [u64; N] {
    let deadline = Deadline::of("enough samples", Duration::from_secs(600));
    let mut sums = [0; N];
    while !is_enough(sums) {
        deadline.check();
        let text = emulate();
        for (sum, name) in sums.iter_mut().zip(names) {
            *sum += number(&text, name);
        }
        println!("{text}");
    }
    sums
}

/// With a link register more stacks have no answer than where calls push the return address: an old one proves nothing.
fn assert_most_are_answered(answered: u64, unanswered: u64) {
    assert!(
        unanswered * 10 < answered,
        "{unanswered} have no answer, and {answered} have one"
    );
}

#[test]
fn frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers_on_aarch64() {
    const NAMES: [&str; 5] = [
        "events",
        "java_traces",
        "here_differ",
        "here_failed",
        "asgst_unanswered",
    ];
    let Some((made, jdks)) = made() else { return };
    for jdk in jdks {
        for flag in FLAGS {
            println!("{}, {flag}", jdk.display());
            let run = || emulate(made, &jdk, ["compare.c", "2000,5,1"], &[flag], &FIXTURES);
            let is_enough = |[events, traces, ..]: [u64; 5]| events > 1_000 && traces > 300;
            let [_, answered, differ, failed, unanswered] = sums(NAMES, is_enough, run);
            assert_eq!((differ, failed), (0, 0));
            assert_most_are_answered(answered, unanswered);
        }
    }
}

#[test]
fn stacks_at_signals_have_the_order_of_calls_that_the_program_has() {
    const NAMES: [&str; 3] = ["asgst_judged", "asgst_false", "asgst_failed"];
    let Some((made, jdks)) = made() else { return };
    for jdk in jdks {
        for flag in FLAGS {
            println!("{}, {flag}", jdk.display());
            let program = ["Shape", "4000"];
            let run = || emulate(made, &jdk, ["shape.c", "1000,3"], &[flag], &program);
            let [judged, wrong, failed] = sums(NAMES, |[judged, ..]| judged > 300, run);
            assert_eq!(wrong, 0);
            assert_most_are_answered(judged, failed);
        }
    }
}

#[test]
fn frames_of_virtual_threads_are_walked() {
    const NAMES: [&str; 4] = ["events", "java_traces", "here_differ", "here_failed"];
    let Some((made, jdks)) = made() else { return };
    for jdk in jdks {
        println!("{}", jdk.display());
        let program = [
            java_fixtures::MAIN_CLASS,
            "virtual-threads-10000",
            "--millis",
            "700",
        ];
        let run = || emulate(made, &jdk, ["compare.c", "2000,5,1"], &[], &program);
        let is_enough = |[events, traces, ..]: [u64; 4]| events > 300 && traces > 300;
        let [events, _, differ, failed] = sums(NAMES, is_enough, run);
        // An event that has no answer counts as another stack, too.
        assert_eq!(differ, failed);
        assert!(failed * 100 < events, "{failed} of {events}");
    }
}
