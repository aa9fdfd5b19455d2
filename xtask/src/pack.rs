//! Archives, Debian packages, and the source release.

use crate::command::run;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packs the folder `tree` into an archive beside the folder.
pub fn archive(tree: &Path) -> Result<PathBuf, String> {
    let archive = beside(tree, ".tar.gz");
    let (Some(folder), Some(name)) = (tree.parent(), tree.file_name()) else {
        return Err(format!("{} has no folder", tree.display()));
    };
    run(Command::new("tar")
        .args([
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "-czf",
        ])
        .arg(&archive)
        .arg("-C")
        .arg(folder)
        .arg(name))?;
    Ok(archive)
}

/// Makes a Debian package of the files in `tree`, where `dpkg-deb` is installed. `control` says what it is.
pub fn debian(tree: &Path, control: &str) -> Result<Option<PathBuf>, String> {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("no Debian package: there is no dpkg-deb");
        return Ok(None);
    }
    let root = beside(tree, ".debian");
    let fail = |e| format!("{}: {e}", root.display());
    if root.exists() {
        fs::remove_dir_all(&root).map_err(fail)?;
    }
    let folder = root.join("DEBIAN");
    fs::create_dir_all(&folder).map_err(fail)?;
    fs::write(folder.join("control"), control).map_err(fail)?;
    run(Command::new("cp").arg("-a").arg(tree).arg(root.join("usr")))?;
    let package = beside(tree, ".deb");
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .args([&root, &package])
        .stdout(std::process::Stdio::null()))?;
    fs::remove_dir_all(&root).map_err(fail)?;
    Ok(Some(package))
}

/// The description of the package of the program.
pub fn program_control(version: &str) -> String {
    // The package has the files of the other, too.
    format!(
        "Package: stackwitness\nVersion: {version}\nArchitecture: amd64\nSection: devel\nPriority: optional\n\
         Maintainer: Stackwitness <stackwitness@localhost>\nDepends: libc6 (>= 2.28), libgcc-s1 | libgcc1\n\
         Suggests: openjdk-17-jdk-headless | java-compiler\n\
         Provides: libasgst (= {version})\nConflicts: libasgst\nReplaces: libasgst\n\
         Description: tells whether a JVM's profiling APIs return true stack traces\n"
    )
}

/// The description of the package of `libasgst`.
pub fn library_control(version: &str) -> String {
    format!(
        "Package: libasgst\nVersion: {version}\nArchitecture: amd64\nSection: libdevel\nPriority: optional\n\
         Maintainer: Stackwitness <stackwitness@localhost>\nDepends: libc6 (>= 2.17), libgcc-s1 | libgcc1\n\
         Suggests: openjdk-17-jdk-headless | java-compiler, pkg-config\n\
         Description: AsyncGetStackTrace, frame iterator and safepoint queue for stock HotSpot JDKs\n"
    )
}

/// Packs all files of the last commit of `workspace` into `archive`; `None` without a repository.
pub fn source(workspace: &Path, archive: &Path) -> Result<Option<PathBuf>, String> {
    let git = || {
        let mut git = Command::new("git");
        git.arg("-C").arg(workspace);
        git
    };
    let head = git()
        .args(["rev-parse", "--verify", "--quiet", "HEAD"])
        .output();
    if !head.is_ok_and(|head| head.status.success()) {
        println!(
            "no source release: {} is no git repository",
            workspace.display()
        );
        return Ok(None);
    }
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let folder = name.strip_suffix(".tar.gz").unwrap_or(&name);
    run(git()
        .args(["archive", "--format=tar.gz", "--output"])
        .arg(archive)
        .arg(format!("--prefix={folder}/"))
        .arg("HEAD"))?;
    Ok(Some(archive.into()))
}

/// A path beside `tree` with another ending.
fn beside(tree: &Path, end: &str) -> PathBuf {
    let mut name: OsString = tree.into();
    name.push(end);
    name.into()
}
