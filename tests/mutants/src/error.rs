//! The errors of building and running mutants.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no mutant, or no score.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{command} failed: {why}")]
    Command { command: String, why: String },
    #[error("{}: {function}: {why}", .file.display())]
    Edit {
        file: PathBuf,
        function: String,
        why: String,
    },
    #[error("two edits change the same text; one of them puts: {0}")]
    Overlap(String),
    #[error("the table of mutants: {0}")]
    Table(String),
    #[error("{0}")]
    Missing(String),
}

impl Error {
    /// Names the file in an error of I/O.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Error::Io {
            what: path.display().to_string(),
            source,
        }
    }
}
