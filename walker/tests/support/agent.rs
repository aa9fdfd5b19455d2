//! Builds agents in C against the files of an installed library alone.

#[path = "installed.rs"]
mod installed;

use classfile_testing::jdk::Jdk;
use installed::{compiler, install, walker};
use std::path::{Path, PathBuf};
use test_support::run;

/// Builds an agent from `sources`, which are paths in this crate, for a JVM of `jdk`.
pub fn build(jdk: &Jdk, dir: &Path, sources: &[&str]) -> PathBuf {
    install(dir);
    let (agent, libraries) = (dir.join("libagent.so"), dir.join("lib"));
    let built = run(compiler("cc", dir, jdk)
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC"])
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&agent)
        .args(sources.iter().map(|source| walker().join(source)))
        .arg(format!("-L{}", libraries.display()))
        .arg("-lasgst")
        .arg(format!("-Wl,-rpath,{}", libraries.display())));
    built.ok();
    agent
}
