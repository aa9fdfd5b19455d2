//! `stackwitness gate`.

use super::{input, render};
use crate::cli::GateArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};

/// Judges a report, against a baseline or by upper bounds.
pub fn gate(args: GateArgs) -> Result<u8, Error> {
    let judge = args.since.judge(args.known.as_deref())?;
    let path = input::or_last(args.report);
    let report = input::read(&path)?;
    let decision = judge.decide(&report);
    let (format, style) = (args.amount.format(), render::style(Stream::Output));
    let text = render::text(&report, &decision, input::folder(&path), format, style);
    print(Stream::Output, &text)?;
    Ok(exit::of(decision.outcome))
}
