//! What a report comes to: by its observed rates, by upper bounds, and against another report.

pub mod compare;
mod decision;
pub mod merge;
pub mod outcome;

pub use decision::{Decision, KnownIssue, KnownIssues, KnownSeen, LayerDecision, Standing, decide};
