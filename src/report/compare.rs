//! `stackwitness compare`.

use super::{input, render};
use crate::cli::CompareArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use oracle::compare::{compare as layers, outcome};

/// Prints how two reports differ; worse is the outcome of being over budget.
pub fn compare(args: CompareArgs) -> Result<u8, Error> {
    let base = input::read(&args.base)?;
    let new = input::read(&args.new)?;
    let changes = layers(&base, &new, args.alpha);
    let document = reports::content::comparison(&changes);
    let text = reports::render::text(&document, render::style(Stream::Output));
    print(Stream::Output, &text)?;
    Ok(exit::of(outcome(&changes)))
}
