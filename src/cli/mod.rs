//! The arguments of the command line.
//!
//! * [`running`]: commands that run programs, or would;
//! * [`results`]: commands on reports;
//! * [`shared`]: options that several commands have.

mod results;
mod running;
mod shared;

pub use results::*;
pub use running::*;
pub use shared::*;

use crate::exit;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Tells whether a JVM's profiling APIs return true stack traces.
///
/// Runs Java programs under an agent that knows each thread's true stack, asks the JVM's stack
/// walkers at the same instants, and counts how often the answers are false.
#[derive(Debug, Parser)]
#[command(version, before_help = EXAMPLES, after_help = exit::HELP)]
pub struct Cli {
    /// When to colour the output: red is what fails
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  stackwitness run --quick                            a first answer, within half a minute
  stackwitness run --jdk HOME                         another JDK, in two minutes
  stackwitness run -- -jar my.jar                     any Java program
  stackwitness profile -- -jar my.jar                 which profiles of it can be trusted
  stackwitness render                                 the last report again";

const PROFILE_EXAMPLES: &str = "\
Examples:
  stackwitness profile -- -jar my.jar                 the usual profilers, on any Java program
  stackwitness profile                                on our own programs
  stackwitness profile --jdk A --jdk B -- -jar my.jar";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario, or any Java program, and judge what the walkers return
    Run(Box<RunArgs>),
    /// Say whether a JDK build is worse than another: runs both in turns until it is sure
    Check(CheckArgs),
    /// Say which profiles of a Java program can be trusted: the scenario `profilers`
    #[command(before_help = PROFILE_EXAMPLES)]
    Profile(Box<RunArgs>),
    /// Judge recorded stacks of any profiler, by class files alone
    Judge(crate::edges::EdgesArgs),
    /// Judge a report by a baseline or the upper bounds of its rates: yes or no
    Gate(GateArgs),
    /// Make a baseline for `gate` from several runs of JVMs that are known to be good
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Say where a new report is better or worse than an old one or a baseline
    Compare(CompareArgs),
    /// Find the smallest program that shows a kind of mismatch, and write an issue about it
    Reduce(ReduceArgs),
    /// Join the reports of several machines into one report
    Merge(MergeArgs),
    /// List the built-in scenarios: what each is for, and how long it takes
    Scenarios,
    /// Print what would run, for the machines that will run the parts
    Plan(PlanArgs),
    /// Render a report again, as it is or from the raw records of its runs
    Render(RenderArgs),
    /// Check what this machine lacks for a run: JDK, agent, signals, memory, space
    ///
    /// Makes a run that takes a few seconds. Exits with 0 if nothing is lacking, else with 3.
    Doctor(DoctorArgs),
    /// Write a test for another test suite, which judges any JDK: for jtreg
    Export(ExportArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write that of each command
    Man(ManArgs),
    /// For developers of Stackwitness: generated code, hooks in class files, docs
    #[command(subcommand)]
    Dev(DevCommand),
}

/// What only developers of Stackwitness need.
#[derive(Debug, Subcommand)]
pub enum DevCommand {
    /// Print the generated code that threads ran step by step, with what the walker answered at each instruction
    Listing(ListingArgs),
    /// Insert the hooks into a class, a jar or a folder
    Rewrite(crate::rewrite::RewriteArgs),
    /// Store reports for the documentation, and write the parts of it that come from reports and tables
    ///
    /// Without reports the pages are written anew from those that are stored.
    Publish(PublishArgs),
}

/// The options of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command [default: the program with its list of commands]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, short = 'o', visible_alias = "output", value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The options of `dev publish`.
#[derive(Debug, Args)]
pub struct PublishArgs {
    /// Reports of the scenarios in docs/results/scenarios, each of one JDK: files or their folders
    #[arg(value_name = "REPORT")]
    pub reports: Vec<PathBuf>,
    /// The folder of the documentation, in a checkout of Stackwitness
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub docs: PathBuf,
}

/// The options of `dev listing`.
#[derive(Debug, Args)]
#[command(after_help = reports::listing::LEGEND)]
pub struct ListingArgs {
    /// The folder of a run with steps, or the file `visited.jsonl` there
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Print the code of methods whose names contain this text [default: code with false answers]
    #[arg(long, value_name = "TEXT")]
    pub method: Option<String>,
}
