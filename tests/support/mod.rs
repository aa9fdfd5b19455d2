//! The common parts of the tests of the command line.
#![allow(dead_code, unused_imports, reason = "no test uses all of it")]

pub mod calls;
mod place;

use hotspot::arch::{Follow, Native};
pub use place::Place;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use test_support::{Deadline, Output, jdks, on_each_jdk, run, run_with, until, wait};

/// Whether code of this architecture is not followed, so that no thread steps and no cause of compiled code is proved. Prints why.
pub fn cannot_step() -> bool {
    let follows = Native::FOLLOWS;
    if let Err(why) = follows {
        println!("skipped: {why}");
    }
    follows.is_err()
}

/// The program `stackwitness`, ready for arguments, without variables of the environment that
/// change its behaviour.
pub fn stackwitness() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stackwitness"));
    command.env("CI", "true");
    command
}

/// Sends a signal, such as `-TERM`.
pub fn signal(name: &str, pid: u32) {
    run(Command::new("kill").args([name, &pid.to_string()])).ok();
}

/// Whether a process has ended.
pub fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// The command under a limit of the shell, such as `ulimit -f 1024`. A file that is too large is an error of its writer.
pub fn limited(command: &Command, limit: &str) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("trap '' XFSZ; {limit}; exec \"$@\"");
    shell.args(["-c", &script, "sh"]).arg(command.get_program());
    shell.args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.expect("a variable that is set"));
    }
    let folder = command.get_current_dir().expect("a folder");
    shell.current_dir(folder);
    shell
}

/// The shared library of the C file `source` of this crate, built in `dir` as `lib` and the file's name; `None` without a C
/// compiler, which is said.
pub fn c_library(source: &str, dir: &Path) -> Option<PathBuf> {
    library(source, dir, &[])
}

/// As [`c_library`], for a source with the headers of JVMTI; `None` if no JDK has them, which is said.
pub fn jvmti_library(source: &str, dir: &Path) -> Option<PathBuf> {
    let headers = jdks().into_iter().map(|jdk| jdk.join("include"));
    let Some(headers) = headers
        .into_iter()
        .find(|dir| dir.join("jvmti.h").is_file())
    else {
        println!("skipped: no JDK has the headers of JVMTI to build {source} with");
        return None;
    };
    library(source, dir, &[headers.join("linux"), headers])
}

fn library(source: &str, dir: &Path, headers: &[PathBuf]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let name = source.file_stem().expect("a file").display();
    let library = dir.join(format!("lib{name}.so"));
    let built = Command::new("cc")
        .args([
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-shared",
            "-fPIC",
            "-o",
        ])
        .arg(&library)
        .arg(&source)
        .args(headers.iter().map(|dir| format!("-I{}", dir.display())))
        .args(["-ldl", "-lrt"])
        .status();
    let Ok(status) = built else {
        println!(
            "skipped: there is no C compiler `cc` to build {} with",
            source.display()
        );
        return None;
    };
    assert!(status.success(), "{} can be built", source.display());
    Some(library)
}

/// Seeds for one run after the other, until a test has what it waits for. A busy machine takes several runs; the usual
/// deadline for `what` ends a hang.
#[track_caller]
pub fn seeds(what: &str) -> impl Iterator<Item = u64> {
    let deadline = Deadline::new(what);
    (1..).inspect(move |_| deadline.check())
}

/// The result of a scenario. Its folder is removed with it.
pub struct Ran {
    pub code: Option<i32>,
    pub report: oracle::report::Report,
    pub out: PathBuf,
    _dir: tempfile::TempDir,
}

/// Runs a scenario on `jdk`.
pub fn run_scenario(jdk: &Path, scenario: &str, seed: u64, options: &[&str]) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scenario.toml");
    fs::write(&file, scenario).unwrap();
    let out = dir.path().join("out");
    let mut command = stackwitness();
    command.args(["run", "--scenario"]).arg(file);
    command.arg("--seed").arg(seed.to_string());
    command.arg("--jdk").arg(jdk).arg("--out").arg(&out);
    let output = run(command.args(options));
    // Without this the report would fail next, with a message that says less. A busy machine may
    // leave a layer without data (3): the caller asks for the data that the test needs.
    assert!(
        matches!(output.code, Some(0 | 1 | 3)),
        "{jdk:?}: {output:#?}"
    );
    Ran {
        code: output.code,
        report: report(&out),
        out,
        _dir: dir,
    }
}

/// Runs a scenario on `jdk`, whose first run must be valid and end well.
pub fn run_well(jdk: &Path, scenario: &str, seed: u64, options: &[&str]) -> Ran {
    let ran = run_scenario(jdk, scenario, seed, options);
    let first = &ran.report.runs[0];
    assert_eq!(first.exit, oracle::report::Exit::Code(0), "{jdk:?}");
    assert_eq!(first.invalid, None, "{jdk:?}");
    ran
}

/// The option for recordings of stacks that are deep.
pub const DEEP: &str = "-XX:FlightRecorderOptions:stackdepth=256";

/// Fixtures with calls of many kinds, and how long each runs.
pub const VARIED: [&str; 13] = [
    "lambdas",
    "streams",
    "method-handles",
    "reflection",
    "proxies",
    "sorting",
    "regexes",
    "string-concat",
    "math-parser",
    "tree-maps",
    "mutual-recursion",
    "--millis",
    "1000",
];

/// Records fixtures with JFR into `file`: further options of the recording, of the JVM, and of the fixtures. Returns the jar of
/// the fixtures, which is beside the file.
pub fn record_fixtures(
    jdk: &Path,
    file: &Path,
    recording: &str,
    jvm: &[&str],
    fixtures: &[&str],
) -> PathBuf {
    let installed = java_fixtures::write_to(file.parent().unwrap()).unwrap();
    let output = run(Command::new(jdk.join("bin/java"))
        .args(jvm)
        .arg(format!(
            "-XX:StartFlightRecording:filename={}{recording}",
            file.display()
        ))
        .arg("-cp")
        .arg(&installed.fixtures_jar)
        .arg(java_fixtures::MAIN_CLASS)
        .args(fixtures));
    assert_eq!(output.code, Some(0), "{output:#?}");
    installed.fixtures_jar
}

/// How many of the faults are of this kind.
pub fn sum(
    faults: &[oracle::record::FaultCount],
    is: impl Fn(&oracle::record::FaultCount) -> bool,
) -> u64 {
    let faults = faults.iter().filter(|fault| is(fault));
    faults.map(|fault| fault.count).sum()
}

/// How the faults ended that were injected into the first run.
pub fn faults_of(ran: &Ran) -> Vec<oracle::record::FaultCount> {
    use oracle::record::{RECORDS_FILE, Record};
    let run = ran.out.join(&ran.report.runs[0].dir);
    let records = fs::read_to_string(run.join(RECORDS_FILE)).unwrap();
    let mut faults = records
        .lines()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            Record::Faults(faults) => Some(faults),
            _ => None,
        });
    faults.next_back().unwrap_or_default()
}

/// The report in a folder of results.
pub fn report(out: &Path) -> oracle::report::Report {
    scenarios::store::read_report(out).unwrap()
}

/// A script of [`fake_jdk`] that counts one match in `gst`.
pub const COUNTS_ONE: &str = r#"
printf '\001' | dd of=$dir/slots.bin bs=1 seek=1280 conv=notrunc 2>/dev/null
echo '{"started":{"home":"h","vendor":"v","version":"17","vm":"VM","asgct":true}}' > $dir/records.jsonl
"#;

/// A folder that looks like a JDK; `java` is a shell script. `$dir` is the run's folder.
pub fn fake_jdk(root: &Path, script: &str) -> PathBuf {
    let home = root.join("jdk");
    let java = home.join("bin/java");
    fs::create_dir_all(java.parent().unwrap()).unwrap();
    let head = "#!/bin/sh\nfor arg; do case $arg in -agentpath:*) dir=${arg#*=}; dir=${dir%/*};; esac; done\n";
    fs::write(&java, format!("{head}{script}\n")).unwrap();
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
    home
}
