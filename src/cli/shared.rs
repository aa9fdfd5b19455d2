//! Options that several commands have.

use clap::{Args, ValueEnum};

/// When to colour the output.
#[derive(Copy, Clone, Debug, Eq, PartialEq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is `dumb`; and where CLICOLOR_FORCE is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The scenario with the programs of all known causes.
pub const CAUSES: &str = "causes";

/// The folder of results that nobody names.
pub const OUT: &str = "stackwitness-out";

/// How much a command prints.
#[derive(Copy, Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Amount {
    /// Print all tables instead of one screen
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the line with the verdict alone
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print the answer as JSON: verdict, rates and causes
    #[arg(long, conflicts_with_all = ["verbose", "quiet"])]
    pub json: bool,
}

impl Amount {
    /// The format of the answer.
    pub fn format(self) -> Format {
        match self {
            Amount { json: true, .. } => Format::Answer,
            Amount { quiet: true, .. } => Format::Verdict,
            Amount { verbose: true, .. } => Format::Table,
            _ => Format::Summary,
        }
    }
}

/// The formats of a report.
#[derive(Copy, Clone, Debug, Eq, PartialEq, ValueEnum)]
pub enum Format {
    /// One screen of a terminal.
    Summary,
    /// The line with the verdict.
    Verdict,
    /// All tables, for a terminal or a log.
    Table,
    /// The answer as JSON: verdict, rates and causes.
    Answer,
    /// The report itself.
    Json,
    /// For a CI system's list of tests.
    Junit,
    /// For a CI system's summary.
    Markdown,
    /// One page for a browser, readable offline.
    Html,
    /// For a check of GitHub Actions: a line for each annotation.
    Annotations,
    /// For grep: a line for each reason and each kind of mismatch of a layer that fails.
    Lines,
}
