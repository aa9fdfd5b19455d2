//! `stackwitness gate`.

use crate::cli::GateArgs;
use crate::input;
use oracle::gate::{Decision, KnownIssues};
use oracle::outcome::Outcome;
use oracle::report::Report;
use scenarios::{Error, known as file};
use std::path::Path;

/// Judges a report.
pub fn gate(args: GateArgs) -> Result<Outcome, Error> {
    let known = known(args.known.as_deref())?;
    let report = input::read(&args.report)?;
    let decision = decide(&report, &known);
    print!("{}", reports::gate::render(&decision));
    Ok(decision.outcome)
}

/// The known issues in a file; none without.
pub fn known(path: Option<&Path>) -> Result<KnownIssues, Error> {
    path.map_or(Ok(KnownIssues::default()), file::read)
}

/// Judges a report that is in memory.
pub fn decide(report: &Report, known: &KnownIssues) -> Decision {
    oracle::gate::decide(report, known, std::env::consts::ARCH)
}
