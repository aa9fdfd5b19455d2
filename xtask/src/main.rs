//! `cargo xtask dist`: makes the archive and the Debian package of a finished program.
//!
//! * [`glibc`]: libraries to link against, so that the program runs with an older C library;
//! * [`build`]: the program, linked against these;
//! * [`tree`]: the files of an installed program, as folders below `/usr` have them;
//! * [`pack`]: the archive and the package, made from these files;
//! * [`command`]: other programs.

#![forbid(unsafe_code)]

mod build;
mod command;
mod glibc;
mod pack;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit code of bad usage.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let folder = match arguments[..] {
        ["dist"] => workspace().join("target/dist"),
        ["dist", "--out", folder] => PathBuf::from(folder),
        _ => {
            eprintln!("usage: cargo xtask dist [--out FOLDER]");
            return ExitCode::from(USAGE);
        }
    };
    match dist(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
}

/// Builds the program and writes the archive and the package into `folder`. Prints their paths.
fn dist(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let built = build::build(workspace())?;
    let name = format!("stackwitness-{}-x86_64-linux", env!("CARGO_PKG_VERSION"));
    let tree = tree::lay_out(workspace(), &built, &folder.join(name))?;
    println!("{}", pack::archive(&tree)?.display());
    if let Some(package) = pack::debian(&tree, env!("CARGO_PKG_VERSION"))? {
        println!("{}", package.display());
    }
    Ok(())
}
