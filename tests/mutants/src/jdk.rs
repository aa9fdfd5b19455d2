//! A JDK folder with another HotSpot in it: all other files are those of Debian's packages.

use crate::cache::Cache;
use crate::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The VM's library in a JDK.
pub const LIBRARY: &str = "lib/server/libjvm.so";

/// Makes the JDK `name` of the files in `from`, with another VM: `put` gets the new JDK's folder, which has no VM yet. Links
/// to the system's settings lead to those in `unpacked`. Gives the new JDK's path.
pub fn make(
    cache: &Cache,
    name: &str,
    (from, unpacked): (&Path, &Path),
    put: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let home = cache.jdk(&format!("{name}.new"));
    remove(&home)?;
    copy(from, &home, unpacked)?;
    let target = home.join(LIBRARY);
    fs::remove_file(&target).map_err(Error::at(&target))?;
    put(&home)?;
    publish(&home, &cache.jdk(name))
}

/// The JDK `name`, if it was built.
pub fn built(cache: &Cache, name: &str) -> Result<PathBuf, Error> {
    let home = cache.jdk(name);
    if home.join("bin/java").exists() {
        return Ok(home);
    }
    let why = format!("{} is not there; `mutants build` makes it", home.display());
    Err(Error::Missing(why))
}

/// Puts the finished JDK in place of the earlier one. VMs that run keep their files.
fn publish(new: &Path, home: &Path) -> Result<PathBuf, Error> {
    let old = home.with_extension("old");
    remove(&old)?;
    if home.exists() {
        fs::rename(home, &old).map_err(Error::at(home))?;
    }
    fs::rename(new, home).map_err(Error::at(new))?;
    remove(&old)?;
    Ok(home.into())
}

fn remove(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::at(folder))?;
    }
    Ok(())
}

/// Copies a folder by hard links. Links to the system's settings lead to those of the packages.
fn copy(from: &Path, to: &Path, installed: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::at(to))?;
    for entry in fs::read_dir(from).map_err(Error::at(from))? {
        let entry = entry.map_err(Error::at(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Error::at(&source))?;
        if kind.is_dir() {
            copy(&source, &target, installed)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&source).map_err(Error::at(&source))?;
            symlink(settings(&link, installed), &target).map_err(Error::at(&target))?;
        } else {
            fs::hard_link(&source, &target).map_err(Error::at(&target))?;
        }
    }
    Ok(())
}

/// The target of a link in the unpacked packages, if it is one of their files.
fn settings(link: &Path, installed: &Path) -> PathBuf {
    let unpacked = link.strip_prefix("/").map(|path| installed.join(path));
    match unpacked {
        Ok(unpacked) if unpacked.exists() => unpacked,
        _ => link.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_linked_and_settings_are_those_of_the_packages() {
        let temporary = tempfile::tempdir().unwrap();
        let installed = temporary.path().join("installed");
        let home = installed.join("home/lib");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(installed.join("etc")).unwrap();
        fs::write(installed.join("etc/net"), "settings").unwrap();
        fs::write(home.join("a"), "text").unwrap();
        symlink("/etc/net", home.join("net")).unwrap();
        symlink("/nowhere/else", home.join("else")).unwrap();
        symlink("a", home.join("near")).unwrap();

        let target = temporary.path().join("copy");
        copy(&installed.join("home"), &target, &installed).unwrap();
        let read = |name: &str| fs::read_to_string(target.join("lib").join(name)).unwrap();
        assert_eq!((read("a"), read("near")), ("text".into(), "text".into()));
        assert_eq!(read("net"), "settings");
        let link = fs::read_link(target.join("lib/else")).unwrap();
        assert_eq!(link, Path::new("/nowhere/else"));
    }
}
