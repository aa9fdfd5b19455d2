//! Why a file cannot be read.

use std::fmt;
use std::io;

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// An error of the system.
    Io(io::Error),
    /// The file breaks the rules of its format.
    Malformed(String),
    /// The file has none of the known formats.
    UnknownFormat,
    /// The file has a format that is known by name only.
    Foreign {
        /// The format, with its article.
        what: &'static str,
        /// What the user can do.
        instead: &'static str,
    },
    /// The recording has no such event. The known events hold stacks.
    NoSuchEvent {
        /// The wanted event.
        wanted: String,
        /// The events of the recording.
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
            Error::Foreign { what, instead } => write!(f, "{what} is not read: {instead}"),
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

/// An error of a malformed file.
pub(crate) fn malformed(what: impl Into<String>) -> Error {
    Error::Malformed(what.into())
}
