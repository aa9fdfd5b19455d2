//! The JDKs of this machine.

use std::collections::BTreeSet;
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
    fn at(home: &Path) -> Option<Self> {
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release
            .lines()
            .find_map(|l| l.strip_prefix("JAVA_VERSION=\""))?;
        let feature = version.split(['.', '"', '-', '+']).next()?.parse().ok()?;
        (home.join("bin/javac").exists() && home.join("lib/modules").exists()).then(|| Self {
            home: home.to_owned(),
            feature,
        })
    }

    /// Every JDK found, the oldest first, one of each feature release.
    pub fn all() -> Vec<Self> {
        let mut homes = BTreeSet::new();
        homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
        for place in [
            "/usr/lib/jvm",
            "/opt/java",
            "/Library/Java/JavaVirtualMachines",
        ] {
            let Ok(entries) = std::fs::read_dir(place) else {
                continue;
            };
            homes.extend(entries.flatten().map(|e| e.path()));
        }
        let mut all: Vec<Self> = homes
            .iter()
            .filter_map(|h| Self::at(h))
            .filter(|j| j.feature >= 17)
            .collect();
        all.sort_by_key(|j| j.feature);
        all.dedup_by_key(|j| j.feature);
        if all.is_empty() {
            println!("skipped: no JDK found (JAVA_HOME, /usr/lib/jvm)");
        }
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

    /// Compiles Java sources, for JDK 17 and later unless told otherwise.
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
