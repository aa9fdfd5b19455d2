//! `stackwitness merge`.

use super::{input, render};
use crate::cli::{Format, MergeArgs};
use crate::error::Error;
use crate::exit;
use crate::judging::Judge;
use crate::output::{Stream, print};
use scenarios::store;

/// Joins reports and returns the exit code of the whole.
pub fn merge(args: MergeArgs) -> Result<u8, Error> {
    let out = store::Folder::take(&args.out)?;
    for path in &args.reports {
        input::advise(path, store::read_report(path).ok().as_ref());
    }
    let report = store::merge(&args.reports, &out)?;
    let decision = Judge::ObservedRates.decide(&report);
    let style = render::style(Stream::Output);
    let text = render::text(&report, &decision, &out, Format::Table, style);
    print(Stream::Output, &text)?;
    Ok(exit::of(decision.outcome))
}
