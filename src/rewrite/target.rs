//! Files that appear under their names only when they are whole.

use crate::error::Error;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Target {
    part: NamedTempFile,
    path: PathBuf,
}

impl Target {
    /// A file that will appear at `path`, with the permissions of the file at `like`.
    pub(super) fn new(path: &Path, like: &Path) -> Result<Target, Error> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mode = fs::metadata(like)
            .map_err(Error::about(like))?
            .permissions()
            .mode();
        let part = tempfile::Builder::new()
            .prefix(".part-")
            .permissions(Permissions::from_mode(mode & 0o777 | 0o200))
            .tempfile_in(folder)
            .map_err(Error::about(path))?;
        Ok(Target {
            part,
            path: path.into(),
        })
    }

    /// The file to write to.
    pub(super) fn file(&mut self) -> &mut File {
        self.part.as_file_mut()
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Target { part, path } = self;
        part.persist(&path).map_err(Error::about(&path))?;
        Ok(())
    }
}
