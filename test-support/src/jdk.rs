//! The JDKs of this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// The oldest feature release that is tested.
const OLDEST: u32 = 17;

/// The JDK of `JAVA_HOME`. Without `JAVA_HOME`, all JDKs in `/usr/lib/jvm` from release 17 on, each
/// once, the oldest first. Prints "skipped" if there is none.
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
    if found.is_empty() {
        println!("skipped: no JDK found (JAVA_HOME, /usr/lib/jvm)");
    }
    found.into_iter().map(|(_, home)| home).collect()
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
