//! Runs Java programs with a deadline.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
pub use test_support::{Output, feature, jdks};

/// Runs `bin/PROGRAM` of a home; kills it and fails after the deadline.
pub fn run<S: AsRef<OsStr>>(home: &Path, program: &str, args: &[S]) -> Output {
    let mut command = Command::new(home.join("bin").join(program));
    // Options of the environment would change what is tested.
    command
        .args(args)
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS");
    test_support::run(&mut command)
}
