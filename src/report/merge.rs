//! `stackwitness merge`.

use super::{input, render};
use crate::cli::{Format, MergeArgs};
use crate::error::Error;
use crate::exit;
use crate::judging::Judge;
use crate::output::{self, Stream, print};
use oracle::merge::missing_shards;
use scenarios::store;

/// Joins reports and returns the exit code of the whole.
pub fn merge(args: MergeArgs) -> Result<u8, Error> {
    let out = store::Folder::take(&args.out)?;
    let parts = args.reports.iter().map(|path| {
        let part = store::read_report(path);
        input::advise(path, part.as_ref().ok());
        part
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let missing = missing_shards(&parts);
    let report = store::merge(&args.reports, parts, &out)?;
    for shard in missing {
        output::say(format!("shard {shard} is missing"));
    }
    let decision = Judge::ObservedRates.decide(&report);
    let style = render::style(Stream::Output);
    let text = render::text(&report, &decision, &out, args.amount.format(), style);
    render::write(&report, &decision, &out, Format::Html)?;
    print(Stream::Output, &text)?;
    Ok(exit::of(decision.outcome))
}
