//! The comparison of a report with a baseline: what changed, and what the report could have shown.

mod change;
mod comparable;
mod judge;
mod objections;
mod pair;
mod power;
#[cfg(test)]
mod tests;

pub use change::{Alarm, Change, Finding};
pub use comparable::hardly_measured;
pub use judge::{Against, Judging, against};
pub use power::{Detect, Power};
