//! `cargo xtask dist` makes the archives and the Debian packages of the finished program and of `libasgst`; `cargo xtask
//! jdk 28` lays out a JDK that this Debian does not have, and `--symbols` fetches the symbols of its libjvm.
//!
//! * [`glibc`]: libraries to link against, so that the result runs with an older C library;
//! * [`build`]: what cargo builds, linked against these;
//! * [`tree`]: the files of an installed program, as folders below `/usr` have them;
//! * [`libasgst`]: the libraries of the walker, and their files;
//! * [`mod@pack`]: archives and packages, made from these files;
//! * [`mod@jdk`]: JDKs of newer suites of Debian;
//! * [`command`]: other programs.

#![forbid(unsafe_code)]

mod build;
mod command;
mod glibc;
mod jdk;
mod libasgst;
mod pack;
mod tree;

use build::Cargo;
use libasgst::link::Libraries;
use std::path::Path;
use std::process::ExitCode;

/// The exit code of bad usage.
const USAGE: u8 = 2;

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is to be made.
#[derive(Copy, Clone)]
enum What {
    All,
    Libasgst,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usual = workspace().join("target/dist");
    let done = match arguments[..] {
        ["dist"] => dist(What::All, &usual),
        ["dist", "--out", folder] => dist(What::All, Path::new(folder)),
        ["dist", "libasgst"] => dist(What::Libasgst, &usual),
        ["dist", "libasgst", "--out", folder] => dist(What::Libasgst, Path::new(folder)),
        ["jdk", release] => jdk(release, jdk::SUITE),
        ["jdk", release, "--suite", suite] => jdk(release, suite),
        ["jdk", release, "--symbols"] => jdk(release, jdk::SUITE).and_then(|()| symbols(release)),
        _ => {
            eprintln!("usage: cargo xtask dist [libasgst] [--out FOLDER]");
            eprintln!("       cargo xtask jdk RELEASE [--suite SUITE | --symbols]");
            return ExitCode::from(USAGE);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Lays out a JDK of Debian, and prints its home.
fn jdk(release: &str, suite: &str) -> Result<(), String> {
    println!("{}", jdk::lay_out(number(release)?, suite)?.display());
    Ok(())
}

/// Fetches the symbols of this JDK's libjvm, and prints their path.
fn symbols(release: &str) -> Result<(), String> {
    println!("{}", jdk::symbols(number(release)?, jdk::SUITE)?.display());
    Ok(())
}

fn number(release: &str) -> Result<u32, String> {
    let number = release.parse();
    number.map_err(|_| format!("{release:?} is no feature release, such as 28"))
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
}

/// Builds, and writes archives and packages into `folder`. Prints their paths.
fn dist(what: What, folder: &Path) -> Result<(), String> {
    let fail = |e| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(fail)?;
    // Other programs run in other folders.
    let folder = folder.canonicalize().map_err(fail)?;
    let cargo = Cargo::new(workspace())?;
    if let What::All = what {
        let program = cargo.program()?;
        let libraries = link(&cargo)?;
        let root = folder.join(format!("stackwitness-{VERSION}-x86_64-linux"));
        tree::clear(&root)?;
        tree::lay_out(workspace(), &program, &root)?;
        libasgst::files::lay_out(workspace(), &libraries, &root)?;
        pack(&root, &pack::program_control(VERSION))?;
        pack_library(&libraries, &folder)
    } else {
        pack_library(&link(&cargo)?, &folder)
    }
}

/// Builds and links `libasgst`.
fn link(cargo: &Cargo<'_>) -> Result<Libraries, String> {
    let objects = cargo.static_library()?;
    let script = workspace().join("walker/library/asgst.map");
    libasgst::link::link(&objects, &script, &cargo.folder("libasgst"))
}

fn pack(root: &Path, control: &str) -> Result<(), String> {
    println!("{}", pack::archive(root)?.display());
    if let Some(package) = pack::debian(root, control)? {
        println!("{}", package.display());
    }
    Ok(())
}

fn pack_library(libraries: &Libraries, folder: &Path) -> Result<(), String> {
    let root = folder.join(format!("libasgst-{VERSION}-x86_64-linux"));
    tree::clear(&root)?;
    libasgst::files::lay_out(workspace(), libraries, &root)?;
    pack(&root, &pack::library_control(VERSION))?;
    let debug = folder.join(format!("libasgst-{VERSION}-x86_64-linux-debug"));
    tree::clear(&debug)?;
    libasgst::files::lay_out_debug(libraries, &debug)?;
    println!("{}", pack::archive(&debug)?.display());
    let source = folder.join(format!("libasgst-{VERSION}-source.tar.gz"));
    if let Some(source) = pack::source(workspace(), &source)? {
        println!("{}", source.display());
    }
    Ok(())
}
