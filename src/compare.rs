//! `stackwitness compare`.

use crate::cli::CompareArgs;
use crate::input;
use oracle::compare::{Trend, compare as layers};
use oracle::outcome::Outcome;
use scenarios::Error;

/// Prints how two reports differ; worse is the outcome of being over budget.
pub fn compare(args: CompareArgs) -> Result<Outcome, Error> {
    let base = input::read(&args.base)?;
    let new = input::read(&args.new)?;
    let changes = layers(&base, &new, args.alpha);
    print!("{}", reports::compare::render(&changes));
    let has = |trend| changes.iter().any(|change| change.trend == trend);
    Ok(if has(Trend::Worse) {
        Outcome::Over
    } else if has(Trend::NoData) || changes.is_empty() {
        Outcome::NotMeasured
    } else {
        Outcome::Within
    })
}
