//! `stackwitness gate`.

use super::{input, render};
use crate::cli::GateArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print, say};

/// Judges a report, against a baseline or by upper bounds.
pub fn gate(args: GateArgs) -> Result<u8, Error> {
    let judge = args.since.judge(args.known.as_deref())?;
    let path = match args.old_report {
        Some(path) => {
            say(format!(
                "`--report {0}` is now `gate {0}`; the next release will not know it",
                path.display()
            ));
            path
        }
        None => args.report,
    };
    let report = input::read(&path)?;
    let decision = judge.decide(&report);
    let (format, style) = (args.amount.format(), render::style(Stream::Output));
    let text = render::text(&report, &decision, input::folder(&path), format, style);
    print(Stream::Output, &text)?;
    Ok(exit::of(decision.outcome))
}
