//! Folders and single class files.

use super::class::{LARGEST, Rewriter};
use super::target::Target;
use crate::error::Error;
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folders that were read so far, by their canonical paths. Each folder is read once, so
/// circles of links end.
#[derive(Debug, Default)]
pub(super) struct Folders(BTreeSet<PathBuf>);

impl Folders {
    /// Rewrites everything below `from` to the corresponding places below `to`.
    pub(super) fn folder(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        from: &Path,
        to: &Path,
    ) -> Result<(), Error> {
        let canonical = fs::canonicalize(from).map_err(Error::about(from))?;
        if !self.0.insert(canonical) {
            let place = from.display().to_string();
            return rewriter.leave_out(&place, "a link to a folder that was read already");
        }
        fs::create_dir_all(to).map_err(Error::about(to))?;
        let mut entries = fs::read_dir(from)
            .and_then(|all| all.collect::<io::Result<Vec<_>>>())
            .map_err(Error::about(from))?;
        // Links come last: a target within the folder is read at its own place.
        entries.sort_by_key(|entry| (is_link(entry), entry.file_name()));
        for entry in entries {
            self.entry(rewriter, &entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    }

    fn entry(&mut self, rewriter: &mut Rewriter<'_>, from: &Path, to: &Path) -> Result<(), Error> {
        let place = || from.display().to_string();
        let Ok(metadata) = fs::metadata(from) else {
            return rewriter.leave_out(&place(), "a link to nowhere");
        };
        if metadata.is_dir() {
            self.folder(rewriter, from, to)
        } else if !metadata.is_file() {
            rewriter.leave_out(&place(), "neither a file nor a folder")
        } else if from.extension().is_some_and(|e| e == "class") {
            class_file(rewriter, from, to)
        } else {
            rewriter.done.others += 1;
            copy(from, to)
        }
    }
}

fn is_link(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_symlink())
}

/// Rewrites one class file.
pub(super) fn class_file(rewriter: &mut Rewriter<'_>, from: &Path, to: &Path) -> Result<(), Error> {
    let place = from.display().to_string();
    if fs::metadata(from).map_err(Error::about(from))?.len() > LARGEST {
        rewriter.too_large(&place)?;
        return copy(from, to);
    }
    let bytes = fs::read(from).map_err(Error::about(from))?;
    let new = rewriter.class(&place, &bytes)?;
    let mut target = Target::new(to, from)?;
    let content = new.as_deref().unwrap_or(&bytes);
    target.file().write_all(content).map_err(Error::about(to))?;
    target.finish()
}

/// Copies a file that is no class.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let mut old = File::open(from).map_err(Error::about(from))?;
    let mut target = Target::new(to, from)?;
    io::copy(&mut old, target.file()).map_err(Error::about(to))?;
    target.finish()
}
