//! What the tests of the ways to get the program share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use test_support::{Deadline, run_until};

/// A build of all packages on a slow machine ends earlier.
pub const BUILD: Duration = Duration::from_secs(45 * 60);

/// The folder of the workspace.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a command that may take as long as a build, to its success.
pub fn finish(command: &mut Command, what: &str) -> String {
    run_until(command, "", &Deadline::of(what, BUILD)).ok()
}
