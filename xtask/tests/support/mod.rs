//! What the tests of the ways to get the program share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use test_support::{Deadline, run_until};

/// A build of all packages on a slow machine ends earlier.
const BUILD: Duration = Duration::from_secs(45 * 60);

pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn finish(command: &mut Command, what: &str) -> String {
    run_until(command, "", &Deadline::of(what, BUILD)).ok()
}
