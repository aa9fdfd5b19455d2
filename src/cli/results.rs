//! The options of commands on reports.

use super::shared::{Amount, Format};
use crate::exit;
use crate::judging::{Judging, Since, probability};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The options of `gate`.
#[derive(Debug, Args)]
#[command(after_help = exit::HELP)]
pub struct GateArgs {
    /// The report: a file or its folder; `-` for standard input [default: stackwitness-out]
    #[arg(value_name = "REPORT")]
    pub report: Option<PathBuf>,
    /// A file of known issues
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    #[command(flatten)]
    pub since: Since,
    #[command(flatten)]
    pub amount: Amount,
}

/// What to do with a baseline.
#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Make a baseline from several runs of one scenario
    Create {
        /// Reports, folders of results, or baselines: of five runs or more
        #[arg(value_name = "REPORT", required = true)]
        from: Vec<PathBuf>,
        /// The file to write; `-` is standard output
        #[arg(long, short = 'o', visible_alias = "out", value_name = "FILE")]
        output: PathBuf,
    },
    /// Replace the runs of the same JDK release and architecture by new runs
    Update {
        /// The baseline
        baseline: PathBuf,
        /// Reports, folders of results, or baselines: of five runs or more
        #[arg(value_name = "REPORT", required = true)]
        from: Vec<PathBuf>,
    },
    /// Print of what a baseline consists
    Show {
        /// The baseline
        baseline: PathBuf,
    },
}

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The old report, a file or its folder; or a baseline, which shows how much equal runs differ
    pub base: PathBuf,
    /// The new report
    pub new: PathBuf,
    /// Probability with which equal JVMs may be reported as different
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = probability)]
    pub alpha: f64,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the page to this file [default: compare.html beside the new report]; `-` is standard output, in place of the text
    #[arg(long, short, visible_alias = "out", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The options of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The reports: files or their folders
    #[arg(required = true)]
    pub reports: Vec<PathBuf>,
    /// Folder for the joined report and for the folders of all runs
    #[arg(long, short = 'o', visible_alias = "output", value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub amount: Amount,
}

/// The options of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// The report: a file or its folder; `-` for standard input [default: stackwitness-out]
    #[arg(value_name = "REPORT")]
    pub report: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Summary)]
    pub format: Format,
    /// Read the raw records of the runs in DIR instead of DIR's report.json
    #[arg(long)]
    pub from_records: bool,
    #[command(flatten)]
    pub judging: Judging,
    /// Write to this file instead of standard output; `-` is standard output
    #[arg(long, short, visible_alias = "out", value_name = "FILE")]
    pub output: Option<PathBuf>,
}
