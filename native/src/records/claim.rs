//! One run belongs to one JVM.
//!
//! A program can start further JVMs that get the agent as well, for example through
//! `JAVA_TOOL_OPTIONS`. They would write into the files of the run. So the first JVM claims the
//! run, and the agent does nothing in any other.

use oracle::record::CLAIM_FILE;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Claims the run in `run_dir` for this process. Returns false if a JVM has claimed the run
/// before. Fails if the file of the claim cannot be made.
pub fn take(run_dir: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    match options
        .write(true)
        .create_new(true)
        .open(run_dir.join(CLAIM_FILE))
    {
        Ok(mut file) => {
            // The name of the file is the claim. A full disk may leave the file empty.
            _ = writeln!(file, "{}", std::process::id());
            Ok(true)
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}
