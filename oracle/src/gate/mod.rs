//! What a report comes to: the decision on it, and its comparison with another report.
//!
//! * [`decide`] makes the [`Decision`]: by observed rates, or by upper bounds without known issues;
//! * [`outcome`]: the answer that a decision comes to;
//! * [`compare`]: whether one report is better or worse than another;
//! * [`merge`]: joining the reports of several machines.

pub mod compare;
mod decision;
mod known;
mod layers;
pub mod merge;
pub mod outcome;
mod reason;

pub use decision::{Decision, Rule, decide};
pub use known::{KnownIssue, KnownIssues, KnownSeen};
pub use layers::{Basis, LayerDecision, Standing};
pub use reason::{Objection, Subject, trouble};
