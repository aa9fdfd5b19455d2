//! The archive and the Debian package.

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

/// Makes a Debian package of the files in `tree`, where `dpkg-deb` is installed.
pub fn debian(tree: &Path, version: &str) -> Result<Option<PathBuf>, String> {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("no Debian package: there is no dpkg-deb");
        return Ok(None);
    }
    let root = beside(tree, ".debian");
    let fail = |e| format!("{}: {e}", root.display());
    if root.exists() {
        fs::remove_dir_all(&root).map_err(fail)?;
    }
    let control = root.join("DEBIAN");
    fs::create_dir_all(&control).map_err(fail)?;
    fs::write(control.join("control"), control_file(version)).map_err(fail)?;
    run(Command::new("cp").arg("-a").arg(tree).arg(root.join("usr")))?;
    let package = beside(tree, ".deb");
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .args([&root, &package])
        .stdout(std::process::Stdio::null()))?;
    fs::remove_dir_all(&root).map_err(fail)?;
    Ok(Some(package))
}

fn control_file(version: &str) -> String {
    format!(
        "Package: stackwitness\nVersion: {version}\nArchitecture: amd64\nSection: devel\nPriority: optional\n\
         Maintainer: Stackwitness <stackwitness@localhost>\nDepends: libc6 (>= 2.28), libgcc-s1 | libgcc1\n\
         Suggests: openjdk-17-jdk-headless | java-compiler\n\
         Description: tells whether a JVM's profiling APIs return true stack traces\n"
    )
}

/// A path beside `tree` with another ending.
fn beside(tree: &Path, end: &str) -> PathBuf {
    let mut name: OsString = tree.into();
    name.push(end);
    name.into()
}
