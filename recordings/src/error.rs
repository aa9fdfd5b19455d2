//! Why a file cannot be read.

use std::fmt;
use std::io;

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// The system says why.
    Io(io::Error),
    /// The file is not as its format has it.
    Malformed(String),
    /// None of the formats fits.
    UnknownFormat,
    /// There is no such event; these hold stacks.
    NoSuchEvent {
        /// What was asked for.
        wanted: String,
        /// What the recording has.
        known: Vec<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(e) => e.fmt(f),
            Error::Malformed(what) => f.write_str(what),
            Error::UnknownFormat => f.write_str(
                "neither a JFR recording, nor JSON lines, nor collapsed stacks, nor a pprof \
                 profile, nor a thread dump",
            ),
            Error::NoSuchEvent { wanted, known } => write!(
                f,
                "no event `{wanted}` holds stacks; these do: {}",
                known.join(", ")
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Malformed("the file is cut off".into()),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Error::Malformed(error.to_string())
            }
            _ => Error::Io(error),
        }
    }
}

/// An error of a file that is not as it must be.
pub(crate) fn malformed(what: impl Into<String>) -> Error {
    Error::Malformed(what.into())
}
