//! Builds agents in C against the header alone.

use classfile_testing::jdk::Jdk;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::run;

/// Builds an agent from `sources`, which are paths in this crate, for a JVM of `jdk`.
pub fn build(jdk: &Jdk, dir: &Path, sources: &[&str]) -> PathBuf {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = jdk.home.join("include");
    let agent = dir.join("libagent.so");
    let built = run(Command::new("cc")
        .args([
            "-std=gnu11",
            "-O1",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
        ])
        .arg(&agent)
        .args(sources.iter().map(|source| walker.join(source)))
        .arg(format!("-I{}", walker.join("include").display()))
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", include.join("linux").display()))
        .arg(format!("-L{}", libraries().display()))
        .arg("-lasgst")
        .arg(format!("-Wl,-rpath,{}", libraries().display())));
    built.ok();
    agent
}

/// The folder of `libasgst.so`, which is also that of this program.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    program.parent().expect("a folder").to_owned()
}
