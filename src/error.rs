//! Why a command could not do its work.

use crate::exit;
use crate::output::is_standard;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Error {
    /// What went wrong, as people read it.
    what: String,
    /// Whether the user must change the request. Otherwise the machine lacks something.
    usage: bool,
}

impl Error {
    /// An error after which the user must change the request.
    pub fn usage(what: String) -> Error {
        Error { what, usage: true }
    }

    /// An error of a machine that lacks something.
    pub fn machine(what: String) -> Error {
        Error { what, usage: false }
    }

    /// Turns an error about the file at `path` into an error of a command. Who names a file that is not there must
    /// change the request.
    pub fn about<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Error {
        move |e| Error {
            what: format!("{}: {e}", path.display()),
            usage: !path.exists() && !is_standard(path),
        }
    }

    /// The exit code: whether the user must change the request, or the machine lacks something.
    pub fn exit_code(&self) -> u8 {
        if self.usage {
            exit::USAGE
        } else {
            exit::NOT_MEASURED
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
