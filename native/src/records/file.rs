//! The file of records: each record is a line of JSON, written at once.

use oracle::record::Record;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
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
