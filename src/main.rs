//! The command line of Stackwitness: it reads arguments, calls the crates that do the work, prints
//! what they return, and exits with one of the codes in [`exit`].
//!
//! * [`cli`] and [`judging`]: the arguments of the command line; [`spelling`]: old ones; [`settings`]: those of a folder;
//! * [`help`]: the help of the whole program;
//! * one file or folder for each command: [`run`], [`check`], [`reduce`], [`export`], [`plan`], [`rewrite`], [`edges`], [`doctor`],
//!   [`listing`], [`manual`], [`publish`], [`built_in`] (the list of scenarios), and the commands on reports in [`report`];
//! * [`output`]: all printing; [`progress`] and [`next`]: what a user sees during a run and after
//!   the run;
//! * [`exit`], [`error`] and [`tips`]: how a command ends, and what a user can do about a mistake.

#![forbid(unsafe_code)]

mod built_in;
mod check;
mod cli;
mod doctor;
#[cfg(test)]
mod documented;
mod edges;
mod error;
mod exit;
mod export;
mod help;
mod judging;
mod listing;
mod manual;
mod next;
mod output;
mod plan;
mod progress;
mod publish;
mod reduce;
mod report;
mod rewrite;
mod run;
mod settings;
mod spelling;
mod tips;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command, DevCommand};
use error::Error;
use settings::Settings;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (words, hint) = spelling::today(std::env::args_os().collect());
    if let Some(hint) = hint {
        output::say(hint);
    }
    let parsed = help::grouped(Cli::command()).try_get_matches_from(&words);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let code = match parsed {
        Ok(cli) => {
            report::render::set_colour(cli.color);
            execute(cli.command)
        }
        Err(answer) => usage(&answer, words.into_iter().skip(1)),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        output::say(&error);
        error.exit_code()
    }))
}

/// Prints a mistake in the arguments, or the help for which the user asked.
fn usage(
    answer: &clap::Error,
    words: impl Iterator<Item = std::ffi::OsString>,
) -> Result<u8, Error> {
    if let Some(tip) = tips::tip(answer, words) {
        output::say(tip);
        return Ok(exit::USAGE);
    }
    if answer.use_stderr() {
        // With the name that all messages have.
        let text = answer.render();
        let text = if io::stderr().is_terminal() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        let text = tips::plain(&text);
        let _ = anstream::stderr().write_all(text.as_bytes());
        return Ok(exit::USAGE);
    }
    let printed = answer.print().and_then(|()| io::stdout().flush());
    output::closed_is_fine(printed)?;
    Ok(exit::WITHIN)
}

fn execute(mut command: Command) -> Result<u8, Error> {
    let added = Settings::read()?.complete(&mut command);
    if !added.is_empty() {
        output::say(format!("{} adds {}", settings::FILE, added.join(" ")));
    }
    match command {
        Command::Run(args) => run::run(*args),
        Command::Profile(args) => run::profile(*args),
        Command::Check(args) => check::check(args),
        Command::Judge(args) => edges::command(&args),
        Command::Gate(args) => report::gate::gate(args),
        Command::Baseline(args) => report::baseline::command(args),
        Command::Compare(args) => report::compare::compare(args),
        Command::Reduce(args) => reduce::reduce(args),
        Command::Export(args) => export::export(args),
        Command::Merge(args) => report::merge::merge(args),
        Command::Scenarios => built_in::list(),
        Command::Plan(args) => plan::plan(args),
        Command::Render(args) => report::render::render(args),
        Command::Doctor(args) => doctor::command(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man(args) => manual::man(&args),
        Command::Dev(DevCommand::Listing(args)) => listing::command(&args),
        Command::Dev(DevCommand::Rewrite(args)) => rewrite::command(&args),
        Command::Dev(DevCommand::Publish(args)) => publish::command(&args),
    }
}
