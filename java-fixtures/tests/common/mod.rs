//! Finds JDKs and runs Java programs with a deadline.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far more than a busy machine needs.
const DEADLINE: Duration = Duration::from_secs(300);

/// What a Java program said and how it ended.
#[derive(Debug)]
pub struct Output {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The standard output of a program that must have ended well.
    pub fn ok(self) -> String {
        assert_eq!(self.exit, Some(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// The homes of all JDKs found from release 17 on.
pub fn jdks() -> Vec<PathBuf> {
    let usual = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let homes = usual.map(|entry| entry.path());
    let found: BTreeSet<_> = homes
        .chain(env::var_os("JAVA_HOME").map(PathBuf::from))
        .filter_map(|home| home.canonicalize().ok())
        .filter(|home| feature(home) >= Some(17))
        .collect();
    for wanted in [17, 25] {
        if !found.iter().any(|home| feature(home) == Some(wanted)) {
            println!("skipped: no JDK {wanted} in JAVA_HOME or /usr/lib/jvm");
        }
    }
    found.into_iter().collect()
}

/// From a line like `JAVA_VERSION="17.0.15"` of a home's `release` file.
pub fn feature(home: &Path) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let line = release
        .lines()
        .find_map(|l| l.strip_prefix("JAVA_VERSION=\""))?;
    line.split(['.', '"', '-', '+']).next()?.parse().ok()
}

/// Runs `bin/PROGRAM` of a home; kills it and fails after the deadline.
pub fn run<S: AsRef<OsStr>>(home: &Path, program: &str, args: &[S]) -> Output {
    let mut child = Command::new(home.join("bin").join(program))
        .args(args)
        // Options from the outside would change what is tested.
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", home.display()));
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let exit = wait(&mut child);
    Output {
        exit,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut pipe = pipe.expect("piped");
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > DEADLINE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running after {DEADLINE:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}
