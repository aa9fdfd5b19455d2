//! What can be said on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Tells whether a JVM's profiling APIs return true stack traces.
///
/// Runs Java programs under an agent that knows each thread's true stack, asks the JVM's
/// stack walkers at the same instants, and counts how often their answers are false.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every layer is within its budget of mismatches
  1  a layer is over its budget
  2  bad usage, a bad scenario, or a folder that cannot be written
  3  could not measure: no JDK, the agent or the program did not start, no data
  4  the JVM crashed or hung";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario, or any Java program, and judge what the walkers return
    Run(RunArgs),
}

/// What `run` takes.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RunArgs {
    /// The JDK to judge [default: JAVA_HOME, else `java` on the PATH, else the newest in /usr/lib/jvm]
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// A scenario of ours by name, or a scenario file
    #[arg(
        long,
        value_name = "NAME|FILE",
        default_value = "default",
        conflicts_with = "java_args"
    )]
    pub scenario: String,
    /// Folder for the results
    #[arg(long, value_name = "DIR", default_value = "stackwitness-out")]
    pub out: PathBuf,
    /// Seed of all random choices [default: a random one, which is told]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// End the program of `-- JAVA_ARGS` after so many seconds; 0: never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 3600,
        requires = "java_args"
    )]
    pub deadline: u64,
    /// Break the agent on purpose, to see it caught
    #[arg(long, hide = true)]
    pub sabotage: Option<Sabotage>,
    /// Any Java program, as one would give it to `java`
    #[arg(last = true, value_name = "JAVA_ARGS")]
    pub java_args: Vec<String>,
}

/// Ways to break the agent.
#[derive(Copy, Clone, Debug, ValueEnum)]
pub enum Sabotage {
    /// Every tenth pop does nothing.
    DropPops,
}
