//! Finds JDKs and runs Java programs with a deadline.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use test_support::Output;

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
    let mut command = Command::new(home.join("bin").join(program));
    // Options from the outside would change what is tested.
    command
        .args(args)
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS");
    test_support::run(&mut command)
}
