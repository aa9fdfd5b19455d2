//! A folder of results, and the right to write to it.

use crate::Error;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The file that is locked (`flock(2)`). The file holds the process id of the process that has the
/// folder.
const LOCK: &str = ".lock";

/// The prefix of files that are not complete yet.
pub(super) const PART: &str = ".part-";

/// A folder of results to which this process alone writes, as long as the value lives.
///
/// The kernel gives the lock back when the process ends, however it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder, which is made if absent. Checks at once whether the folder can be written
    /// to, and not only after a run of minutes.
    ///
    /// Fails if the folder cannot be written to, or if another process has it.
    pub fn take(dir: &Path) -> Result<Folder, Error> {
        let fail = |source| Error::Out {
            path: dir.into(),
            source,
        };
        fs::create_dir_all(dir).map_err(fail)?;
        let path = dir.canonicalize().map_err(fail)?;
        let mut lock = open(&path).map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy {
                    path,
                    holder: holder(&mut lock),
                });
            }
            Err(TryLockError::Error(e)) => return Err(fail(e)),
        }
        lock.set_len(0).map_err(fail)?;
        // On a full disk the id is missing. The message to another process then lacks the id only.
        let _ = writeln!(lock, "{}", std::process::id());
        remove_parts(&path);
        Ok(Folder { path, _lock: lock })
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// The process that has the folder, if there is one.
pub(crate) fn in_use(dir: &Path) -> Option<String> {
    let mut lock = File::open(dir.join(LOCK)).ok()?;
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(holder(&mut lock)),
        _ => None,
    }
}

fn open(dir: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(dir.join(LOCK))
}

/// The process in a file that is locked, with its command line.
fn holder(lock: &mut File) -> String {
    let mut text = String::new();
    let _ = lock.read_to_string(&mut text);
    let Ok(pid) = text.trim().parse::<u32>() else {
        return "another process".into();
    };
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = command.split(|&byte| byte == 0);
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    match words.join(" ").trim_end() {
        "" => format!("process {pid}"),
        command => format!("process {pid} (`{command}`)"),
    }
}

/// Removes the incomplete files of a process that was killed.
fn remove_parts(dir: &Path) {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let runs = entries(&dir.join("runs")).map(|run| run.path());
    for folder in runs.chain([dir.to_owned()]) {
        for entry in entries(&folder) {
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(PART.as_bytes())
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_owner() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("out");
        let folder = Folder::take(&dir).unwrap();
        let error = Folder::take(&dir).unwrap_err();
        let expected = format!("is in use by process {}", std::process::id());
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(error.is_usage());
        assert!(in_use(&dir).is_some());
        drop(folder);
        assert_eq!(in_use(&dir), None);
        Folder::take(&dir).unwrap();
    }

    #[test]
    fn what_a_killed_owner_left_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let run = root.path().join("runs/001-p");
        fs::create_dir_all(&run).unwrap();
        // The id of a process that ended long ago, or of another process by now.
        fs::write(root.path().join(LOCK), "1\n").unwrap();
        for left in [root.path().join(".part-x"), run.join(".part-y")] {
            fs::write(left, "half of").unwrap();
        }
        fs::write(run.join("run.json"), "{}").unwrap();
        let folder = Folder::take(root.path()).unwrap();
        let own = fs::read_to_string(folder.join(LOCK)).unwrap();
        assert_eq!(own.trim(), std::process::id().to_string());
        assert!(!folder.join(".part-x").exists() && !run.join(".part-y").exists());
        assert!(run.join("run.json").exists());
    }
}
