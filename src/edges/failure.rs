//! Errors of `stackwitness edges`.

use std::fmt;
use std::path::Path;

/// Why nothing could be judged.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong, for people.
    pub what: String,
    /// Whether something else has to be asked for.
    pub usage: bool,
}

impl Failure {
    /// Turns an error about `path` into ours.
    pub fn about<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Failure {
        move |e| Failure {
            what: format!("{}: {e}", path.display()),
            usage: false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<scenarios::Error> for Failure {
    fn from(error: scenarios::Error) -> Failure {
        Failure {
            what: error.to_string(),
            usage: error.is_usage(),
        }
    }
}
