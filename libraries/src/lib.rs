//! The shared libraries that a JVM loads: the agent, and the native methods of the fixtures.
//!
//! Cargo builds both before this crate, which carries their bytes. So the program is one file that
//! works wherever it is copied. [`Library::place`] returns the path of a library for a JVM: a file
//! of the same content near the program (in a build or an installed archive), or else a new file.

#![forbid(unsafe_code)]

use std::env;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A shared library of Stackwitness.
#[derive(Debug)]
pub struct Library {
    /// Its file name.
    pub name: &'static str,
    /// The environment variable that can name another file.
    pub variable: &'static str,
    /// The library itself.
    pub content: &'static [u8],
}

/// The agent.
pub static AGENT: Library = Library {
    name: "libstackwitness_agent.so",
    variable: "STACKWITNESS_AGENT",
    content: include_bytes!(env!("AGENT_FILE")),
};

/// The native methods of the fixtures.
pub static FIXTURE_NATIVES: Library = Library {
    name: "libstackwitness_fixture_natives.so",
    variable: "STACKWITNESS_FIXTURE_NATIVES",
    content: include_bytes!(env!("FIXTURE_NATIVES_FILE")),
};

/// Places of the libraries, relative to the folder of the program: beside the program, where cargo
/// puts the libraries of dependencies, and where an installed program has them.
const PLACES: [&str; 3] = ["", "deps", "../lib/stackwitness"];

impl Library {
    /// The path of the library for a JVM. If no file near the program has the same content, the
    /// library is written into `folder`, which is made if absent.
    ///
    /// Fails if the environment names a file that does not exist, or if `folder` cannot be written
    /// to.
    pub fn place(&self, folder: &Path) -> io::Result<PathBuf> {
        if let Some(path) = env::var_os(self.variable).map(PathBuf::from) {
            return path.canonicalize().map_err(|error| {
                let (path, variable) = (path.display(), self.variable);
                io::Error::new(error.kind(), format!("{path} (from {variable}): {error}"))
            });
        }
        let near = env::current_exe().and_then(|program| program.canonicalize());
        let near = near.unwrap_or_default();
        let near = near.parent().unwrap_or(Path::new(""));
        let mut files = PLACES
            .map(|place| near.join(place).join(self.name))
            .into_iter();
        if let Some(path) = files.find(|path| self.is_at(path)) {
            return path.canonicalize();
        }
        fs::create_dir_all(folder)?;
        let path = folder.canonicalize()?.join(self.name);
        if !self.is_at(&path) {
            self.write(&path)?;
        }
        Ok(path)
    }

    /// Whether the file at `path` is this library.
    fn is_at(&self, path: &Path) -> bool {
        let same_size =
            fs::metadata(path).is_ok_and(|data| data.len() == self.content.len() as u64);
        same_size && fs::read(path).is_ok_and(|content| content == self.content)
    }

    /// Writes the library in one step: a JVM may have an older file open.
    fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut part = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o644))
            .tempfile_in(folder)?;
        part.write_all(self.content)?;
        part.persist(path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_a_shared_library() {
        for library in [&AGENT, &FIXTURE_NATIVES] {
            // ELF-64, "Object Files": the magic number, and e_type is ET_DYN.
            assert_eq!(&library.content[..4], b"\x7fELF");
            assert_eq!(&library.content[16..18], [3, 0]);
        }
    }

    #[test]
    fn a_build_has_the_library_near_the_test() {
        let folder = tempfile::tempdir().unwrap();
        let path = AGENT.place(folder.path()).unwrap();
        assert!(AGENT.is_at(&path), "{path:?}");
        assert!(!path.starts_with(folder.path()), "{path:?}");
    }

    #[test]
    fn a_library_that_is_nowhere_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = Library {
            name: "libelsewhere.so",
            variable: "STACKWITNESS_NONE",
            content: b"\x7fELF",
        };
        let wanted = folder.path().join("new");
        let path = elsewhere.place(&wanted).unwrap();
        assert_eq!(path.parent(), wanted.canonicalize().ok().as_deref());
        assert_eq!(fs::read(&path).unwrap(), elsewhere.content);
        // A file of another version is replaced.
        fs::write(&path, "older").unwrap();
        elsewhere.place(&wanted).unwrap();
        assert_eq!(fs::read(&path).unwrap(), elsewhere.content);
    }
}
