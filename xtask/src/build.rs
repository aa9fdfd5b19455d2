//! Builds the program, linked so that it runs with an older C library.

use crate::command::run;
use crate::glibc;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that cargo built.
pub struct Built {
    /// The program.
    pub program: PathBuf,
    /// The agent and the native methods of the fixtures.
    pub libraries: [PathBuf; 2],
}

/// Builds the program of the workspace in a separate target folder, because other flags would make
/// cargo build everything again.
pub fn build(workspace: &Path) -> Result<Built, String> {
    let target = workspace.join("target/portable");
    let stubs = glibc::write_stubs(&target.join("glibc"))?;
    let flags = format!(
        "-L native={} -C link-arg=-Wl,--allow-shlib-undefined -C strip=debuginfo",
        stubs.display()
    );
    run(Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--locked", "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", flags)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .current_dir(workspace))?;
    let release = target.join("release");
    let library = |name: &str| release.join("deps").join(name);
    Ok(Built {
        program: release.join("stackwitness"),
        libraries: [
            library("libstackwitness_agent.so"),
            library("libstackwitness_fixture_natives.so"),
        ],
    })
}
