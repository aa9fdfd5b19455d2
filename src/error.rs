//! Why a command could not do what it was asked for.

use crate::exit;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub struct Error {
    /// What went wrong, for people.
    what: String,
    /// Whether the user has to ask for something else, rather than the machine lacking something.
    usage: bool,
}

impl Error {
    /// The user has to ask for something else.
    pub fn usage(what: String) -> Error {
        Error { what, usage: true }
    }

    /// The machine lacks something.
    pub fn machine(what: String) -> Error {
        Error { what, usage: false }
    }

    /// Turns an error about the file at `path` into ours.
    pub fn about<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Error {
        move |e| Error {
            what: format!("{}: {e}", path.display()),
            usage: false,
        }
    }

    /// The exit code that tells whether the user or the machine is to blame.
    pub fn exit_code(&self) -> u8 {
        match self.usage {
            true => exit::USAGE,
            false => exit::NOT_MEASURED,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<scenarios::Error> for Error {
    fn from(error: scenarios::Error) -> Error {
        Error {
            what: error.to_string(),
            usage: error.is_usage(),
        }
    }
}

/// Standard output or standard error takes no more.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error {
            what: format!("the output could not be written: {error}"),
            usage: false,
        }
    }
}
