//! Builds a HotSpot whose stack walkers can be made wrong, with one mistake at a time, and scores a
//! gate by the mistakes that the gate notices. See `docs/mutants.md`.

mod build;
mod command;
mod edit;
mod error;
mod score;
mod table;

use build::cache::Cache;
use build::jvm::Variant;
use clap::{Parser, Subcommand};
use error::Error;
use score::Trial;
use std::path::PathBuf;
use std::process::ExitCode;
use table::Table;

/// The exit code if a mutant survived the gate, or an honest VM failed the gate.
const WEAK_GATE: u8 = 1;

#[derive(Parser)]
#[command(about, version)]
struct Arguments {
    /// The folder of downloads and builds [default: $STACKWITNESS_MUTANTS_CACHE, else
    /// stackwitness-mutants in the user's cache]
    #[arg(long, global = true)]
    cache: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the mutants as a Markdown table
    List,
    /// Build the JDKs: one with all mistakes, and honest ones
    Build(build::Wishes),
    /// Run a gate on each mutant and on honest VMs, and print the score
    Run(score::Wishes),
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
    let table = Table::built_in()?;
    let cache = Cache::new(arguments.cache)?;
    match arguments.action {
        Action::List => print!("{}", table.markdown()),
        Action::Build(wishes) => build::build(&wishes, &table, &cache)?,
        Action::Run(wishes) => {
            let trials = trials(&wishes, &table, &cache)?;
            if !score::run(&wishes, &trials)? {
                return Ok(ExitCode::from(WEAK_GATE));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Honest VMs first, then the chosen mutants.
fn trials(wishes: &score::Wishes, table: &Table, cache: &Cache) -> Result<Vec<Trial>, Error> {
    let mut trials = vec![];
    for variant in Variant::ALL {
        for turn in 1..=wishes.honest {
            trials.push(Trial {
                name: format!("{}-{turn}", variant.honest_name()),
                does: variant.when_honest().into(),
                jdk: build::jdk(variant, cache)?,
                switch: None,
            });
        }
    }
    for name in &wishes.only {
        table.mutant(name)?;
    }
    for mutant in &table.mutants {
        if wishes.only.is_empty() || wishes.only.contains(&mutant.name) {
            trials.push(Trial {
                name: mutant.name.clone(),
                does: mutant.does.clone(),
                jdk: build::jdk(Variant::Mutants, cache)?,
                switch: Some(mutant.switch()),
            });
        }
    }
    Ok(trials)
}
