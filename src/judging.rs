//! How a command judges a report. The report is judged once, for the exit code and for all output.

use hotspot::causes::Cause;
use hotspot::claims::CLAIMS;
use oracle::gate::{Baseline, Decision, Detect, KnownIssues, Rule, decide, hardly_measured};
use oracle::report::Report;
use scenarios::{Error, baseline as baseline_file, known};
use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

/// The options that decide how a report is judged.
#[derive(Debug, clap::Args)]
pub struct Judging {
    /// Judge as `gate` does, by the upper bounds of the rates
    #[arg(long)]
    pub gate: bool,
    /// Judge as `gate` does, and let the known issues in this file not count
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    #[command(flatten)]
    pub since: Since,
}

/// A baseline, and the errors that its user allows.
#[derive(Debug, clap::Args)]
pub struct Since {
    /// Say what is new since this baseline (see `stackwitness baseline`)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Fail with exit code 3 if the run is too small to see this share of false stacks in a layer
    #[arg(long, value_name = "SHARE", requires = "baseline", value_parser = probability)]
    pub detect: Option<f64>,
    /// The probability with which an honest JVM may fail
    #[arg(long = "alpha", value_name = "P", requires = "baseline", default_value_t = 0.01, value_parser = probability)]
    pub alarm: f64,
}

/// A probability between 0 and 1, without these two.
pub fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|e| e.to_string())?;
    if 0.0 < number && number < 1.0 {
        Ok(number)
    } else {
        Err("a probability lies between 0 and 1".into())
    }
}

/// How reports are judged, with all files read.
#[derive(Debug)]
pub enum Judge {
    /// By the observed rates.
    ObservedRates,
    /// By the upper bounds of the rates, without known issues.
    UpperBounds(KnownIssues),
    /// Against a baseline, without known issues.
    Baseline {
        baseline: Box<Baseline>,
        known: KnownIssues,
        judging: oracle::gate::Judging,
        detect: Option<Detect>,
    },
}

impl Judging {
    /// Whether the report is judged as `gate` does: who gives a baseline or known issues wants them to count.
    pub fn is_gate(&self) -> bool {
        self.gate || self.since.baseline.is_some() || self.known.is_some()
    }

    /// Reads the known issues and the baseline before anything runs, so that a mistake in them
    /// costs no time.
    pub fn judge(&self) -> Result<Judge, Error> {
        if self.is_gate() {
            self.since.judge(self.known.as_deref())
        } else {
            Ok(Judge::ObservedRates)
        }
    }
}

impl Since {
    /// Judges against the baseline, or by upper bounds if there is none. The issues in the file
    /// `known_issues` do not count.
    pub fn judge(&self, known_issues: Option<&Path>) -> Result<Judge, Error> {
        let read = |path| known::read(path, |cause| Cause::named(cause).is_some());
        let known = known_issues.map_or(Ok(KnownIssues::default()), read)?;
        let Some(file) = &self.baseline else {
            return Ok(Judge::UpperBounds(known));
        };
        Ok(Judge::Baseline {
            baseline: Box::new(baseline_file::read(file)?),
            known,
            judging: oracle::gate::Judging { alpha: self.alarm },
            detect: self.detect.map(Detect),
        })
    }
}

impl Judge {
    /// The programs that must run again before the report can be held against the baseline, if there is one.
    pub fn hardly_measured(&self, report: &Report) -> BTreeSet<String> {
        match self {
            Judge::Baseline { baseline, .. } => hardly_measured(report, baseline, ARCH),
            Judge::ObservedRates | Judge::UpperBounds(_) => BTreeSet::new(),
        }
    }

    /// The decision on a report.
    pub fn decide(&self, report: &Report) -> Decision {
        let rule = match self {
            Judge::ObservedRates => Rule::ObservedRates,
            Judge::UpperBounds(known) => Rule::UpperBounds {
                known,
                platform: ARCH,
            },
            Judge::Baseline {
                baseline,
                known,
                judging,
                detect,
            } => Rule::Baseline {
                baseline,
                known,
                platform: ARCH,
                judging: *judging,
                detect: *detect,
            },
        };
        decide(report, rule, &CLAIMS)
    }
}
