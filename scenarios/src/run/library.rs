//! Finding our own shared libraries, which a JVM loads.

use crate::Error;
use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A shared library of ours.
#[derive(Copy, Clone, Debug)]
pub struct Library {
    name: &'static str,
    variable: &'static str,
}

/// The agent.
pub const AGENT: Library = Library {
    name: "stackwitness_agent",
    variable: "STACKWITNESS_AGENT",
};

/// The native methods of the fixtures.
pub const FIXTURE_NATIVES: Library = Library {
    name: "stackwitness_fixture_natives",
    variable: "STACKWITNESS_FIXTURE_NATIVES",
};

impl Library {
    /// Its path: what its environment variable says, else beside our executable, or in
    /// `deps` there, where cargo puts the libraries of dependencies.
    pub fn find(&self) -> Result<PathBuf, Error> {
        let name = format!(
            "{}{}{}",
            env::consts::DLL_PREFIX,
            self.name,
            env::consts::DLL_SUFFIX
        );
        let candidates = match env::var_os(self.variable) {
            Some(path) => vec![PathBuf::from(path)],
            None => beside_us(&name),
        };
        candidates
            .iter()
            // Cargo may leave an older one behind in one of both places.
            .max_by_key(|path| modified(path))
            .filter(|path| path.is_file())
            .and_then(|path| path.canonicalize().ok())
            .ok_or_else(|| Error::NoLibrary {
                tried: candidates
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
                name,
                variable: self.variable,
            })
    }
}

fn beside_us(name: &str) -> Vec<PathBuf> {
    let exe = env::current_exe()
        .and_then(|exe| exe.canonicalize())
        .unwrap_or_default();
    let dir = exe.parent().map(PathBuf::from).unwrap_or_default();
    // A test's executable lies in `deps` itself.
    vec![dir.join(name), dir.join("deps").join(name)]
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|data| data.modified()).ok()
}
