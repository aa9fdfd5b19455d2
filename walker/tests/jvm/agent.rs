//! Builds the agent `compare.c` against the header alone, and runs programs with it.

use classfile_testing::jdk::Jdk;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;
use test_support::run;

/// The output of the agent.
pub struct Answers {
    /// The whole text.
    pub text: String,
}

impl Answers {
    /// The number that follows `name`.
    pub fn number(&self, name: &str) -> u64 {
        let mut words = self.text.split_ascii_whitespace();
        words
            .find(|&word| word == name)
            .and_then(|_| words.next()?.parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {}", self.text))
    }
}

/// Runs `fixtures` under the agent. If `wild` is 0, a sample is taken every 200 µs; else every 5
/// ms, with `wild` walks from altered contexts.
pub fn compare(jdk: &Jdk, flags: &[&str], fixtures: &[&str], wild: u32) -> Answers {
    static BUILT: OnceLock<(TempDir, PathBuf, PathBuf)> = OnceLock::new();
    let (_, agent, jar) = BUILT.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder");
        let agent = build(jdk, dir.path());
        let installed = java_fixtures::write_to(dir.path()).expect("fixtures");
        (dir, agent, installed.fixtures_jar)
    });
    // The altered walks must leave time for the program, also without optimisation.
    let interval = if wild == 0 { 200 } else { 5_000 };
    let output = run(jdk
        .tool("java")
        .arg(format!(
            "-agentpath:{}={interval},5,1,{wild}",
            agent.display()
        ))
        .args(flags)
        .arg("-cp")
        .arg(jar)
        .arg(java_fixtures::MAIN_CLASS)
        .args(fixtures)
        .args(["--millis", "700"]));
    Answers { text: output.ok() }
}

fn build(jdk: &Jdk, dir: &Path) -> PathBuf {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = jdk.home.join("include");
    let agent = dir.join("libcompare.so");
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
        .arg(walker.join("tests/jvm/compare.c"))
        .arg(walker.join("tests/jvm/wild.c"))
        .arg(format!("-I{}", walker.join("include").display()))
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", include.join("linux").display()))
        .arg(format!("-L{}", libraries().display()))
        .arg("-lasgst")
        .arg(format!("-Wl,-rpath,{}", libraries().display())));
    built.ok();
    agent
}

/// The folder of `libasgst.so`, which is also that of this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}
