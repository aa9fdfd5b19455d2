//! `stackwitness compare`.

use super::{input, render};
use crate::cli::CompareArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use oracle::gate::{self, Judging};
use std::env::consts::ARCH;
use std::slice;

/// Prints how a report differs from another report, or from the runs of a baseline. A worse report
/// gets the exit code of a layer over its budget.
pub fn compare(args: CompareArgs) -> Result<u8, Error> {
    let base = scenarios::baseline::gather(slice::from_ref(&args.base), ARCH, input::read)?;
    let new = input::read(&args.new)?;
    let judging = Judging { alpha: args.alpha };
    let compared = gate::compare(&new, &base, ARCH, judging);
    let document = reports::content::comparison(&new, &compared);
    let text = if args.json {
        let reasons: Vec<&String> = compared.reasons.iter().map(|reason| &reason.text).collect();
        let answer = serde_json::json!({ "outcome": compared.outcome.name(), "reasons": reasons });
        format!("{answer:#}\n")
    } else {
        reports::render::text(&document, render::style(Stream::Output))
    };
    print(Stream::Output, &text)?;
    Ok(exit::of(compared.outcome))
}
