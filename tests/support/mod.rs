//! What the tests of the command line share.
#![allow(dead_code, reason = "no test uses all of it")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far above what anything here takes, and below the patience of a CI system.
const DEADLINE: Duration = Duration::from_secs(240);

/// What a process left behind.
#[derive(Debug)]
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Our own program, ready for arguments, without what the environment would add.
pub fn stackwitness() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stackwitness"));
    command.env("CI", "true");
    command
}

/// Runs `command` to its end, or fails after a deadline.
pub fn run(command: &mut Command) -> Output {
    run_with(command, "")
}

/// Runs `command` with `input`.
pub fn run_with(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    // One that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let code = wait(&mut child, DEADLINE).unwrap_or_else(|| panic!("{command:?} did not end"));
    Output {
        code,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

/// Waits for the end of `child`; ends it and returns `None` after the deadline.
pub fn wait(child: &mut Child, deadline: Duration) -> Option<Option<i32>> {
    let start = Instant::now();
    while start.elapsed() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code());
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut stream = stream.expect("it is piped");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The JDKs to test against: the one of `JAVA_HOME`, else all that are installed.
pub fn jdks() -> Vec<PathBuf> {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        return vec![home.into()];
    }
    let found: Vec<_> = scenarios::jdk::Jdk::installed()
        .iter()
        .map(|jdk| jdk.home().to_owned())
        .collect();
    if found.is_empty() {
        println!("skipped: no JDK found");
    }
    found
}

/// What came of a scenario; its folder goes with it.
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
    // Its report is the next thing to fail, and says less.
    assert!(matches!(output.code, Some(0 | 1)), "{jdk:?}: {output:#?}");
    Ran {
        code: output.code,
        report: report(&out),
        out,
        _dir: dir,
    }
}

/// The report in a job's folder.
pub fn report(out: &Path) -> oracle::report::Report {
    scenarios::store::read_report(out).unwrap()
}

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
