//! How a command judges a report: once, for its exit code and all that it prints.

use oracle::gate::{Decision, KnownIssues, Rule, decide};
use oracle::report::Report;
use scenarios::{Error, known};
use std::path::{Path, PathBuf};

/// What decides how a report is judged.
#[derive(Debug, clap::Args)]
pub struct Judging {
    /// Judge by the upper bounds of the rates, as `gate` does
    #[arg(long)]
    pub gate: bool,
    /// A file of known issues, for `--gate`
    #[arg(long, value_name = "FILE", requires = "gate")]
    pub known: Option<PathBuf>,
}

/// How reports are judged, with the known issues read.
#[derive(Debug)]
pub enum Judge {
    /// By observed rates.
    ObservedRates,
    /// By upper bounds, without known issues.
    UpperBounds(KnownIssues),
}

impl Judging {
    /// Reads the known issues; a mistake in them should cost no time.
    pub fn judge(&self) -> Result<Judge, Error> {
        match self.gate {
            true => Judge::gate(self.known.as_deref()),
            false => Ok(Judge::ObservedRates),
        }
    }
}

impl Judge {
    /// Judges by upper bounds, without the issues in a file.
    pub fn gate(known_issues: Option<&Path>) -> Result<Judge, Error> {
        let issues = known_issues.map_or(Ok(KnownIssues::default()), known::read)?;
        Ok(Judge::UpperBounds(issues))
    }

    /// The decision on a report.
    pub fn decide(&self, report: &Report) -> Decision {
        let rule = match self {
            Judge::ObservedRates => Rule::ObservedRates,
            Judge::UpperBounds(known) => Rule::UpperBounds {
                known,
                platform: std::env::consts::ARCH,
            },
        };
        decide(report, rule)
    }
}
