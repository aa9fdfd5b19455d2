//! What a report comes to: the decision on it, and its comparison with another report.
//!
//! * [`decide`] makes the [`Decision`]: by observed rates, or by upper bounds without known issues;
//! * [`outcome`]: the answer that a decision comes to;
//! * [`Baseline`] and [`compare`]: whether a report is worse than runs of JVMs that are taken for good;
//! * [`Claim`]: an answer that no honest JVM can give;
//! * [`Course`]: whether a build is worse than another, by pairs of short turns;
//! * [`SoughtKind`]: one kind of mismatch that somebody looks for;
//! * [`merge`]: joining the reports of several machines.

mod against;
mod baseline;
mod check;
mod claims;
mod comparison;
mod decision;
mod kinds;
mod known;
mod layers;
pub mod merge;
pub mod outcome;
mod reason;
mod sought;
mod statements;
mod stats;
mod unexplained;

pub use against::{Against, Alarm, Change, Detect, Finding, Judging, Power, hardly_measured};
pub use baseline::{Baseline, Cell, Platform, Program, Sample, Set, What, samples};
pub use check::{
    Answer, Class, Course, Limits, Noisy, NotWorse, Rise, SignTest, Suspicion, Turn, percent,
};
pub use claims::{Answered, Breach, Broken, Claim, broken};
pub use comparison::{Comparison, compare};
pub use decision::{Decision, Rule, decide};
pub use known::{KnownIssue, KnownIssues, KnownSeen, KnownStanding};
pub use layers::{Basis, LayerDecision, Standing};
pub use reason::{Objection, Subject, trouble};
pub use sought::{Seen, SoughtKind};
pub use statements::StatementDecision;
