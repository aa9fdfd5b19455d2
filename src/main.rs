//! The command line of Stackwitness: it reads arguments, calls the crates that do the work, prints
//! what they return, and exits with one of the codes in [`exit`].
//!
//! * [`cli`] and [`judging`]: the arguments of the command line;
//! * one file or folder for each command: [`run`], [`check`], [`plan`], [`rewrite`], [`edges`], [`doctor`],
//!   [`listing`], [`manual`], [`built_in`] (the list of scenarios), and the commands on reports in [`report`];
//! * [`output`]: all printing; [`progress`] and [`next`]: what a user sees during a run and after
//!   the run;
//! * [`exit`], [`error`] and [`tips`]: how a command ends, and what a user can do about a mistake.

#![forbid(unsafe_code)]

mod built_in;
mod check;
mod cli;
mod doctor;
mod edges;
mod error;
mod exit;
mod judging;
mod listing;
mod manual;
mod next;
mod output;
mod plan;
mod progress;
mod publish;
mod report;
mod rewrite;
mod run;
mod tips;

use clap::Parser;
use cli::{Cli, Command};
use error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = match Cli::try_parse() {
        Ok(cli) => {
            report::render::set_colour(cli.color);
            execute(cli.command)
        }
        Err(answer) => usage(&answer),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        output::say(&error);
        error.exit_code()
    }))
}

/// Prints a mistake in the arguments, or the help for which the user asked.
fn usage(answer: &clap::Error) -> Result<u8, Error> {
    if let Some(tip) = tips::tip(answer, std::env::args_os().skip(1)) {
        output::say(tip);
        return Ok(exit::USAGE);
    }
    let printed = answer.print().and_then(|()| io::stdout().flush());
    if answer.use_stderr() {
        return Ok(exit::USAGE);
    }
    output::closed_is_fine(printed)?;
    Ok(exit::WITHIN)
}

/// Runs a command and returns the exit code.
fn execute(command: Command) -> Result<u8, Error> {
    match command {
        Command::Run(args) => run::run(*args),
        Command::Check(args) => check::check(args),
        Command::Gate(args) => report::gate::gate(args),
        Command::Baseline(args) => report::baseline::command(args),
        Command::Compare(args) => report::compare::compare(args),
        Command::Merge(args) => report::merge::merge(args),
        Command::Scenarios => built_in::list(),
        Command::Plan(args) => plan::plan(args),
        Command::Render(args) => report::render::render(args),
        Command::Listing(args) => listing::command(&args),
        Command::Rewrite(args) => rewrite::command(&args),
        Command::Edges(args) => edges::command(&args),
        Command::Doctor(args) => doctor::command(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::man(),
        Command::Publish(args) => publish::command(&args),
    }
}
