//! The JDKs of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use test_support::{Deadline, Output, run_until};

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    /// Its feature release, such as 17.
    pub feature: u32,
}

impl Jdk {
    /// Every JDK found that has a compiler and its classes, the oldest first, one of each feature
    /// release.
    pub fn all() -> Vec<Self> {
        let whole = |home: &PathBuf| {
            ["bin/javac", "lib/modules"]
                .iter()
                .all(|file| home.join(file).exists())
        };
        let whole = test_support::jdks().into_iter().filter(whole);
        let mut all: Vec<Self> = whole
            .filter_map(|home| {
                Some(Self {
                    feature: test_support::feature(&home)?,
                    home,
                })
            })
            .collect();
        all.dedup_by_key(|jdk| jdk.feature);
        all
    }

    /// A tool of this JDK.
    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// Unpacks the classes of the modules that match `pattern`.
    pub fn extract(&self, pattern: &str, to: &Path) {
        let mut c = self.tool("jimage");
        c.arg("extract")
            .arg("--include")
            .arg(format!("regex:{pattern}"))
            .arg("--dir")
            .arg(to);
        run(c.arg(self.home.join("lib/modules")), 5).ok();
    }

    /// Compiles Java sources, for JDK 17 and later unless `args` say otherwise.
    pub fn javac(&self, args: &[&str], to: &Path, sources: &[&Path]) {
        run(
            self.tool("javac")
                .args(args)
                .arg("-nowarn")
                .arg("-d")
                .arg(to)
                .args(sources),
            5,
        )
        .ok();
    }
}

/// Runs a process to its end; fails the test after a deadline of `minutes` on a quiet machine.
#[track_caller]
pub fn run(command: &mut Command, minutes: u64) -> Output {
    let what = format!("{command:?}");
    let deadline = Deadline::of(what, Duration::from_secs(60 * minutes));
    run_until(command.env_remove("JAVA_TOOL_OPTIONS"), "", &deadline)
}
