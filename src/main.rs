//! The command line of Stackwitness.

mod cli;
mod progress;
mod run;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A wrong argument ends here with exit code 2.
    let cli::Cli { command } = cli::Cli::parse();
    let result = match command {
        cli::Command::Run(args) => run::run(args),
    };
    match result {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(error) => {
            eprintln!("stackwitness: {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 3 })
        }
    }
}
