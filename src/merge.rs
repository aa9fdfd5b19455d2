//! `stackwitness merge`.

use crate::cli::MergeArgs;
use crate::input;
use oracle::outcome::Outcome;
use scenarios::{Error, store};
use std::io::{self, IsTerminal};

/// Joins reports and tells the outcome of the whole.
pub fn merge(args: MergeArgs) -> Result<Outcome, Error> {
    let out = store::Folder::take(&args.out)?;
    for path in &args.reports {
        input::advise(path, store::read_report(path).ok().as_ref());
    }
    let report = store::merge(&args.reports, &out)?;
    print!(
        "{}",
        crate::render::table(&report, &out, io::stdout().is_terminal())
    );
    Ok(report.finding().outcome)
}
