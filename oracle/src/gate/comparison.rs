//! A report against another, or against the runs of a baseline.

use super::against::{Against, Judging, against};
use super::baseline::Baseline;
use super::known::KnownIssues;
use super::outcome::Outcome;
use super::reason::{Objection, incomplete, trouble, weigh};
use crate::report::Report;

/// How a report differs from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whether the report is worse.
    pub outcome: Outcome,
    /// What speaks against a better answer, the weightiest reason first.
    pub reasons: Vec<Objection>,
    /// The cells that changed.
    pub against: Against,
}

/// Compares a report with the runs of `base`. `arch` is the architecture of the machine that ran the
/// report. A run that failed and a report that is not whole are reasons too.
pub fn compare(report: &Report, base: &Baseline, arch: &str, judging: Judging) -> Comparison {
    let against = against(report, base, arch, &KnownIssues::default(), judging);
    let mut reasons: Vec<Objection> = report.runs.iter().filter_map(trouble).collect();
    reasons.extend(against.objections());
    reasons.extend(incomplete(report));
    Comparison {
        outcome: weigh(report, &mut reasons),
        reasons,
        against,
    }
}
