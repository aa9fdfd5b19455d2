//! The JDKs of this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// The variable that lets tests pass on a machine without a JDK, if it is 1.
const ALLOW_SKIP: &str = "STACKWITNESS_ALLOW_SKIP";

/// The oldest feature release that is tested.
const OLDEST: u32 = 17;

/// The JDK of `JAVA_HOME`. Without `JAVA_HOME`, all JDKs in `/usr/lib/jvm` from release 17 on, each
/// once, the oldest first. Without any JDK the test fails, unless `STACKWITNESS_ALLOW_SKIP` is 1: then this prints
/// "skipped" and returns no JDK.
pub fn jdks() -> Vec<PathBuf> {
    if let Some(home) = env::var_os("JAVA_HOME") {
        return vec![home.into()];
    }
    let usual = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let found: BTreeSet<(u32, PathBuf)> = usual
        .filter_map(|entry| entry.path().canonicalize().ok())
        .filter(|home| home.join("bin/java").is_file())
        .filter_map(|home| Some((feature(&home)?, home)))
        .filter(|(feature, _)| *feature >= OLDEST)
        .collect();
    let found = found.into_iter().map(|(_, home)| home).collect();
    some_or_skipped(
        found,
        env::var_os(ALLOW_SKIP).is_some_and(|value| value == "1"),
    )
}

fn some_or_skipped(found: Vec<PathBuf>, may_skip: bool) -> Vec<PathBuf> {
    if found.is_empty() {
        assert!(
            may_skip,
            "no JDK found (JAVA_HOME, /usr/lib/jvm): install one, or set {ALLOW_SKIP}=1 to skip what needs one"
        );
        println!("skipped: no JDK found (JAVA_HOME, /usr/lib/jvm)");
    }
    found
}

/// Calls `test` with each of [`jdks`], all at the same time: one JVM with an agent seldom keeps two cores
/// busy. For a file with one test, because the harness itself runs two tests at a time on two cores.
pub fn on_each_jdk(test: impl Fn(&Path) + Sync) {
    thread::scope(|scope| {
        for jdk in jdks() {
            let test = &test;
            scope.spawn(move || test(&jdk));
        }
    });
}

/// The feature release of a home, such as 17, from a line like `JAVA_VERSION="17.0.15"` of its
/// `release` file.
pub fn feature(home: &Path) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let lines = &mut release.lines();
    let version = lines.find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no JDK found")]
    fn a_machine_without_a_jdk_fails_the_tests() {
        some_or_skipped(vec![], false);
    }

    #[test]
    fn one_variable_allows_to_skip() {
        assert_eq!(some_or_skipped(vec![], true), <[PathBuf; 0]>::default());
    }
}
