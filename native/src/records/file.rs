//! The file of records: one JSON line each, written at once.

use oracle::record::Record;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Appends records; usable from every thread, not from a signal handler.
pub struct RecordsFile(File);

impl RecordsFile {
    /// Opens the file at `path`, which is made as needed.
    pub fn open(path: &Path) -> io::Result<RecordsFile> {
        Ok(RecordsFile(
            OpenOptions::new().append(true).create(true).open(path)?,
        ))
    }

    /// Appends `record`. Where it cannot be written (a full disk) it is lost: its check was
    /// counted all the same, and the target must not suffer.
    pub fn write(&self, record: &Record) {
        if let Ok(mut line) = serde_json::to_vec(record) {
            line.push(b'\n');
            // One write, so that lines of several threads do not mix (O_APPEND).
            _ = (&self.0).write_all(&line);
        }
    }
}
