//! Known issues: mismatches that the people behind a JDK know already.
//!
//! * [`KnownIssue`]: what an issue explains, and at which rate;
//! * [`Known`]: the issues of a file, applied to a report;
//! * [`KnownSeen`]: what a report shows of an issue.

mod apply;
mod issue;
mod range;
mod seen;

pub(super) use apply::Known;
pub use issue::{KnownIssue, KnownIssues};
pub(super) use range::feature;
pub use seen::{KnownSeen, KnownStanding};
