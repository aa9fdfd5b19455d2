//! Makes HotSpots whose stack walkers can be made wrong, with one mistake at a time, and scores a gate by the mistakes
//! that the gate notices. See `docs/mutants.md`.
//!
//! # A new mistake
//!
//! *Of 17.* The tables in `tests/mutants/table/sources/` describe edits: a file of HotSpot, a function, a short pattern that matches once in its
//! body, and our code, which goes before, after or instead of the match. No text of HotSpot is kept here. `$ON` in the code asks the switch, and
//! counts a strike, so it comes last in a condition. `$MATCH` is the matched text, `seen_by` names the layers that promise to see the mistake, and
//! `as` makes another mutant of the same edits. `build` stops with the file and the function if a pattern no longer fits.
//!
//! *Of 25 and 28.* Debian has no source packages, so `build` makes a copy of Debian's JDK whose `libjvm.so` loads `libstackwitness_mistakes.so`
//! first. A jump of five bytes takes the place of the first instructions of each wrapped function, found by the symbols (`cargo xtask jdk 28
//! --symbols` fetches them; `--jdk HOME --symbols FILE` names others of the same build ID), and `build` stops where they can't be moved. Without a
//! mistake no byte of libjvm's code changes. In `tests/mutants/table/binaries/`, `functions.toml` has the symbol, the parameters and the result of
//! each function, and a mistake has C++ `before` or `after` the call; `wrappers/structures.hpp` has the layouts. A function that is inlined
//! everywhere can't be wrapped.
//!
//! ```toml
//! [[mutant]]
//! name = "gst-cut-at-64"
//! does = "cuts stacks after 64 frames"
//! imitates = "a fixed buffer"
//! seen_by = ["gst"]
//! [[mutant.wrap]]
//! function = "get_stack_trace"
//! after = "if (result == 0 && *count > 64 && $ON) *count = 64;"
//! ```

mod binaries;
mod cache;
mod command;
mod error;
mod jdk;
mod mutant;
mod score;
mod sources;

use cache::{Cache, Level};
use clap::{Parser, Subcommand, ValueEnum};
use error::Error;
use mutant::Mutant;
use score::Trial;
use sources::jvm::Variant;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code if a mutant survived the gate, or an honest VM failed the gate.
const WEAK_GATE: u8 = 1;

#[derive(Parser)]
#[command(about, version)]
struct Arguments {
    /// The folder of downloads and builds [default: $STACKWITNESS_MUTANTS_CACHE, else
    /// stackwitness-mutants in the user's cache]
    #[arg(long, global = true)]
    cache: Option<PathBuf>,
    /// The JDK: 17 is built from source; of 25 and 28, Debian's builds get wrappers
    #[arg(long, global = true, value_enum, default_value = "17")]
    release: Release,
    /// How HotSpot 17 is compiled
    #[arg(long, global = true, value_enum, default_value = "release")]
    debug_level: Level,
    #[command(subcommand)]
    action: Action,
}

/// The JDKs that have mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Release {
    #[value(name = "17")]
    Jdk17,
    #[value(name = "25")]
    Jdk25,
    #[value(name = "28")]
    Jdk28,
}

impl Release {
    /// The release's number, if its mutants are made of a JVM that was built elsewhere.
    fn of_binary(self) -> Option<u32> {
        match self {
            Self::Jdk17 => None,
            Self::Jdk25 => Some(25),
            Self::Jdk28 => Some(28),
        }
    }
}

#[derive(Subcommand)]
enum Action {
    /// List the mutants as a Markdown table
    List,
    /// Build the JDKs: one with all mistakes, and honest ones
    Build(Wishes),
    /// Run a gate on each mutant and on honest VMs, and print the score
    Run(score::Wishes),
}

/// The options of `build`.
#[derive(Debug, clap::Args)]
struct Wishes {
    #[command(flatten)]
    sources: sources::FromSource,
    /// 25 and 28: wrap functions of this JDK, and not of Debian's
    #[arg(long, requires = "symbols")]
    jdk: Option<PathBuf>,
    /// The file with the symbols of that JDK's libjvm.so
    #[arg(long, requires = "jdk")]
    symbols: Option<PathBuf>,
}

fn main() -> ExitCode {
    match act(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn act(arguments: Arguments) -> Result<ExitCode, Error> {
    let cache = Cache::new(arguments.cache, arguments.debug_level)?;
    let release = arguments.release;
    match arguments.action {
        Action::List => print!("{}", mutant::markdown(&mutants(release)?)),
        Action::Build(wishes) => build(release, wishes, &cache)?,
        Action::Run(wishes) => {
            let trials = trials(release, &wishes, &cache)?;
            if !score::run(&wishes, &trials)? {
                return Ok(ExitCode::from(WEAK_GATE));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn mutants(release: Release) -> Result<Vec<Mutant>, Error> {
    Ok(match release.of_binary() {
        None => sources::table::Table::built_in()?.mutants,
        Some(_) => binaries::table::Table::built_in()?.mutants,
    })
}

fn build(release: Release, wishes: Wishes, cache: &Cache) -> Result<(), Error> {
    let Some(release) = release.of_binary() else {
        return sources::build(&wishes.sources, &sources::table::Table::built_in()?, cache);
    };
    let original = match (wishes.jdk, wishes.symbols) {
        (Some(home), Some(symbols)) => binaries::Original { home, symbols },
        _ => binaries::Original::of_debian(release)?,
    };
    let table = binaries::table::Table::built_in()?;
    binaries::build(release, &original, &table, cache)
}

/// Honest VMs first, then the chosen mutants.
fn trials(release: Release, wishes: &score::Wishes, cache: &Cache) -> Result<Vec<Trial>, Error> {
    let mutants = mutants(release)?;
    let unknown = wishes
        .only
        .iter()
        .find(|name| mutants.iter().all(|mutant| mutant.name != **name));
    if let Some(name) = unknown {
        return Err(Error::Table(format!("there is no mutant {name}")));
    }
    let (honest, home) = match release.of_binary() {
        None => {
            let homes = Variant::ALL.map(|variant| {
                let home = jdk::built(cache, variant.name())?;
                Ok((variant.honest_name(), variant.when_honest(), home))
            });
            let homes: Vec<_> = homes.into_iter().collect::<Result<_, Error>>()?;
            (homes, jdk::built(cache, Variant::Mutants.name())?)
        }
        Some(release) => {
            let home = jdk::built(cache, &binaries::name(release))?;
            let off = Variant::Mutants;
            let honest = (off.honest_name(), off.when_honest(), home.clone());
            (vec![honest], home)
        }
    };
    let mut trials = vec![];
    for (name, does, jdk) in honest {
        trials.extend((1..=wishes.honest).map(|turn| Trial {
            name: format!("{name}-{turn}"),
            does: does.into(),
            jdk: jdk.clone(),
            switch: None,
        }));
    }
    let chosen = |mutant: &&Mutant| wishes.only.is_empty() || wishes.only.contains(&mutant.name);
    trials.extend(mutants.iter().filter(chosen).map(|mutant| Trial {
        name: mutant.name.clone(),
        does: mutant.does.clone(),
        jdk: home.clone(),
        switch: Some(mutant.switch()),
    }));
    Ok(trials)
}
