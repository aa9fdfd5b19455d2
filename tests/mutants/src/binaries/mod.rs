//! Mutants of JVMs that were built elsewhere: a library wraps functions of libjvm, and is loaded with it.
//!
//! * [`table`]: the mutants, and the functions that they wrap;
//! * [`symbols`]: where these functions are;
//! * [`entry`]: what a jump overwrites there;
//! * [`text`]: the wrappers as C++.

mod entry;
mod symbols;
pub mod table;
mod text;

use crate::cache::Cache;
use crate::command::{output, run};
use crate::error::Error;
use crate::jdk::{self, LIBRARY};
use crate::mutant::mistakes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use symbols::Symbols;
use table::Table;

/// The library with the wrappers, beside libjvm.
const WRAPPERS: &str = "libstackwitness_mistakes.so";

const SOURCES: [(&str, &str); 5] = [
    ("switch.hpp", include_str!("../../switch/switch.hpp")),
    ("switch.cpp", include_str!("../../switch/switch.cpp")),
    ("wrappers.hpp", include_str!("../../wrappers/wrappers.hpp")),
    (
        "structures.hpp",
        include_str!("../../wrappers/structures.hpp"),
    ),
    ("install.cpp", include_str!("../../wrappers/install.cpp")),
];

/// A JDK that was built elsewhere.
#[derive(Debug, Clone)]
pub struct Original {
    pub home: PathBuf,
    /// The file with the symbols of its libjvm.
    pub symbols: PathBuf,
}

impl Original {
    /// Debian's JDK of this release with its symbols, laid out by `cargo xtask jdk`.
    pub fn of_debian(release: u32) -> Result<Self, Error> {
        let release = release.to_string();
        let arguments = ["xtask", "jdk", &release, "--symbols"];
        let printed = output(Command::new("cargo").args(arguments))?;
        let mut lines = printed.lines().map(PathBuf::from);
        match (lines.next(), lines.next()) {
            (Some(home), Some(symbols)) => Ok(Self { home, symbols }),
            _ => Err(Error::Missing("cargo xtask jdk printed no paths".into())),
        }
    }
}

/// The JDK folder's name.
pub fn name(release: u32) -> String {
    format!("mutants-{release}")
}

/// Makes the JDK with all mistakes.
pub fn build(release: u32, original: &Original, table: &Table, cache: &Cache) -> Result<(), Error> {
    let library = original.home.join(LIBRARY);
    let symbols = Symbols::read(&library, &original.symbols)?;
    let folder = cache.variant(&name(release));
    fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Error::at(&path))
    };
    for (name, text) in SOURCES {
        put(name, text)?;
    }
    let names = table.mistakes.iter().map(|mistake| mistake.name.as_str());
    put("mistakes.inc", &mistakes(names))?;
    put("wrappers.cpp", &text::wrappers(table, &symbols)?)?;
    let wrappers = folder.join(WRAPPERS);
    compile(&folder, &original.home, &wrappers)?;

    let from = (original.home.as_path(), Path::new("/"));
    let home = jdk::make(cache, &name(release), from, |home| {
        let (target, beside) = (home.join(LIBRARY), home.join("lib/server").join(WRAPPERS));
        fs::copy(&library, &target).map_err(Error::at(&target))?;
        fs::copy(&wrappers, &beside).map_err(Error::at(&beside))?;
        // DT_RPATH, not DT_RUNPATH: with the latter the loader would ignore the paths of the program, in which other
        // libraries may be.
        // One after the other: patchelf 0.14 gives both entries one string if it adds them at once.
        for change in [
            &["--force-rpath", "--set-rpath", "$ORIGIN"][..],
            &["--add-needed", WRAPPERS],
        ] {
            run(Command::new("patchelf").args(change).arg(&target))?;
        }
        Ok(())
    })?;
    println!("{}", home.display());
    Ok(())
}

fn compile(folder: &Path, home: &Path, to: &Path) -> Result<(), Error> {
    let include = home.join("include");
    run(Command::new("c++")
        .args([
            "-std=c++17",
            "-O2",
            "-g",
            "-Wall",
            "-Werror",
            "-fPIC",
            "-shared",
        ])
        .args([
            "-fno-exceptions",
            "-fno-rtti",
            "-fvisibility=hidden",
            "-Wl,-z,defs",
        ])
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", include.join("linux").display()))
        .args(["switch.cpp", "install.cpp", "wrappers.cpp", "-o"])
        .arg(to)
        .current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrappers_are_those_of_the_table() {
        let table = Table::built_in().unwrap();
        for mistake in &table.mistakes {
            for wrap in &mistake.wraps {
                let code = format!("{}{}", wrap.before, wrap.after);
                assert!(!code.is_empty(), "{}", mistake.name);
            }
            let strikes = mistake.wraps.iter();
            let strikes =
                strikes.filter(|wrap| (wrap.before.clone() + &wrap.after).contains("$ON"));
            assert!(strikes.count() >= 1, "{} strikes never", mistake.name);
        }
    }
}
