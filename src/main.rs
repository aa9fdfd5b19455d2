//! The command line of Stackwitness.

mod cli;
mod compare;
mod edges;
mod gate;
mod input;
mod manual;
mod merge;
mod plan;
mod progress;
mod render;
mod rewrite;
mod run;

use clap::Parser;
use cli::Command;
use oracle::outcome::Outcome;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A wrong argument ends here with exit code 2.
    let result = match cli::Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::Gate(args) => gate::gate(args),
        Command::Compare(args) => compare::compare(args),
        Command::Merge(args) => merge::merge(args),
        Command::Plan(args) => plan::plan(args).map(|()| Outcome::Within),
        Command::Render(args) => render::render(args).map(|()| Outcome::Within),
        Command::Rewrite(args) => return rewrite(&args),
        Command::Edges(args) => return edges(&args),
        Command::Completions { shell } => {
            manual::completions(shell);
            Ok(Outcome::Within)
        }
        Command::Man => {
            manual::man();
            Ok(Outcome::Within)
        }
    };
    match result {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(error) => {
            eprintln!("stackwitness: {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 3 })
        }
    }
}

/// Its exit codes are its own: it judges no JVM.
fn rewrite(args: &rewrite::RewriteArgs) -> ExitCode {
    match rewrite::rewrite(args, &mut io::stdout().lock()) {
        Ok(summary) => {
            eprintln!("{summary}");
            ExitCode::from(summary.exit_code())
        }
        Err(error) => {
            eprintln!("stackwitness: {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 3 })
        }
    }
}

/// Likewise: what it judges need not be a JVM's fault.
fn edges(args: &edges::EdgesArgs) -> ExitCode {
    match edges::edges(args) {
        Ok(clean) => ExitCode::from(u8::from(!clean)),
        Err(failure) => {
            eprintln!("stackwitness: {failure}");
            ExitCode::from(if failure.usage { 2 } else { 3 })
        }
    }
}
