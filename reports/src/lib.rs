//! Renders the results of Stackwitness, all from one model: `oracle::report::Report`.
//!
//! * [`table`]: for a terminal or a log, one line for each layer and run;
//! * [`junit`]: for a CI system's list of tests;
//! * [`markdown`]: for a CI system's summary;
//! * [`html`]: one page for a browser, readable offline;
//! * [`gate`] and [`compare`]: decisions and comparisons, for a terminal or a log.

mod causes;
pub mod compare;
mod cost;
mod errors;
mod escape;
pub mod gate;
pub mod html;
pub mod junit;
pub mod markdown;
mod number;
#[cfg(test)]
mod sample;
mod stacks;
pub mod table;
