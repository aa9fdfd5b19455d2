//! Builds with cargo, linked so that the result runs with an older C library.

use crate::command::run;
use crate::glibc;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the program that cargo built.
pub struct Program {
    /// The program.
    pub program: PathBuf,
    /// The agent and the native methods of the fixtures.
    pub libraries: [PathBuf; 2],
}

/// Cargo with a target folder of its own, because other flags would make cargo build everything again.
pub struct Cargo<'a> {
    workspace: &'a Path,
    target: PathBuf,
    flags: String,
}

impl Cargo<'_> {
    /// Cargo for this workspace.
    pub fn new(workspace: &Path) -> Result<Cargo<'_>, String> {
        let target = workspace.join("target/portable");
        let stubs = glibc::write_stubs(&target.join("glibc"), glibc::OF_PROGRAM)?;
        let flags = format!(
            "-L native={} -C link-arg=-Wl,--allow-shlib-undefined -C strip=debuginfo",
            stubs.display()
        );
        Ok(Cargo {
            workspace,
            target,
            flags,
        })
    }

    /// A folder for what is made besides cargo.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// Builds the program of the workspace.
    pub fn program(&self) -> Result<Program, String> {
        run(&mut self.command(&["build"]))?;
        let release = self.target.join("release");
        let library = |name: &str| release.join("deps").join(name);
        Ok(Program {
            program: release.join("stackwitness"),
            libraries: [
                library("libstackwitness_agent.so"),
                library("libstackwitness_fixture_natives.so"),
            ],
        })
    }

    /// Builds `libasgst` with all that it needs of Rust as an archive of objects.
    pub fn static_library(&self) -> Result<PathBuf, String> {
        let package = ["rustc", "--package", "libasgst", "--lib"];
        run(self.command(&package).args(["--crate-type", "staticlib"]))?;
        Ok(self.target.join("release/libasgst.a"))
    }

    fn command(&self, what: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        command
            .args(what)
            .args(["--release", "--locked", "--target-dir"])
            .arg(&self.target)
            .env("RUSTFLAGS", &self.flags)
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("CARGO_BUILD_TARGET")
            .current_dir(self.workspace);
        command
    }
}
