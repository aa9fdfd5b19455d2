//! The file of records: each record is a line of JSON, written at once. The files of a run belong to one JVM, which claims them:
//! a program can start further JVMs that get the agent as well, for example through `JAVA_TOOL_OPTIONS`. In those the agent
//! does nothing.

use oracle::record::{CLAIM_FILE, Record};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Appends records. Every thread may use it, but no signal handler.
pub struct RecordsFile(File);

impl RecordsFile {
    /// Opens the file at `path`, which is made if absent.
    pub fn open(path: &Path) -> io::Result<RecordsFile> {
        Ok(RecordsFile(
            OpenOptions::new().append(true).create(true).open(path)?,
        ))
    }

    /// Appends `record`. If the record cannot be written (a full disk), it is lost. Its check is
    /// counted nevertheless, and the program must not suffer.
    pub fn write(&self, record: &Record) {
        if let Ok(mut line) = serde_json::to_vec(record) {
            line.push(b'\n');
            // A single write, so that lines of several threads do not mix (O_APPEND).
            _ = (&self.0).write_all(&line);
        }
    }
}

/// Claims the run in `run_dir` for this process. Returns false if a JVM has claimed the run
/// before. Fails if the file of the claim cannot be made.
pub fn claim_run(run_dir: &Path) -> io::Result<bool> {
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
