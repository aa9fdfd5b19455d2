//! Builds agents in C against the files of an installed library alone.

#[path = "installed.rs"]
mod installed;

use classfile_testing::jdk::Jdk;
use installed::{compiler, install, walker};
use std::path::{Path, PathBuf};
use test_support::run;

/// Builds an agent from `sources`, which are paths in this crate, for a JVM of `jdk`.
pub fn build(jdk: &Jdk, dir: &Path, sources: &[&str]) -> PathBuf {
    let libraries = dir.join("lib");
    let library = [
        format!("-L{}", libraries.display()),
        "-lasgst".to_owned(),
        format!("-Wl,-rpath,{}", libraries.display()),
    ];
    build_with(jdk, dir, sources, &library)
}

/// As [`build`], with what the linker is given for the library.
pub fn build_with(jdk: &Jdk, dir: &Path, sources: &[&str], library: &[String]) -> PathBuf {
    install(dir);
    let agent = dir.join("libagent.so");
    let built = run(compiler("cc", dir, jdk)
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC"])
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&agent)
        .args(sources.iter().map(|source| walker().join(source)))
        .args(library));
    built.ok();
    agent
}
