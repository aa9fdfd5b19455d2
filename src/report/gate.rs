//! `stackwitness gate`.

use super::{input, render};
use crate::cli::GateArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};

/// Judges a report, against a baseline or by upper bounds.
pub fn gate(args: GateArgs) -> Result<u8, Error> {
    let judge = args.since.judge(args.known.as_deref())?;
    let report = input::read(&args.report)?;
    let decision = judge.decide(&report);
    let document = reports::content::decision(&report, &decision);
    let text = reports::render::text(&document, render::style(Stream::Output));
    print(Stream::Output, &text)?;
    Ok(exit::of(decision.outcome))
}
