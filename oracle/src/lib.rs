//! Traces, layers, verdicts, tallies and statistics of Stackwitness.
//!
//! This crate decides what a stack that a walker returned is worth: it compares the walk
//! with the truth of its layer and gives a verdict. It is pure: it knows no JVM, does no
//! I/O and never calls the clock, so that every decision can be tested without a JVM.
//!
//! * [`trace`]: what walkers return and what the trace stack holds;
//! * [`judge`]: the comparisons, one file a kind;
//! * [`edge`]: whether one frame can lie on another, by the class files alone;
//! * [`mutants`]: walkers that lie on purpose, and what should become of each lie;
//! * [`tally`]: counts of verdicts, and their fixed layout in memory shared with the agent;
//! * [`bound`]: the exact confidence bound on a mismatch rate;
//! * [`record`]: what an agent writes down while a program runs;
//! * [`recorded`]: real samples as files, to be judged again without a JVM;
//! * [`pace`]: how fast the sampler is, against loops that check nothing;
//! * [`profile`]: all stacks that were sampled, and how often;
//! * [`report`]: the results of one or more runs, as `report.json` has them;
//! * [`budget`]: whether a layer's mismatches are within what a scenario allows;
//! * [`cost`]: CPU time of checks, and how much slower a program was;
//! * [`gate`]: the one decision on a report, by observed rates or by upper bounds;
//! * [`outcome`]: the answer that a decision comes to;
//! * [`compare`]: whether one report is better or worse than another;
//! * [`merge`]: joining the reports of several machines.
#![forbid(unsafe_code)]

pub mod bound;
pub mod edge;
pub mod gate;
pub mod judge;
mod model;
pub mod mutants;
pub mod record;
pub mod recorded;

pub use gate::{compare, merge, outcome};
pub use judge::{Judgement, Reason, Verdict};
pub use model::{LAYERS, Layer, LayerRow, ProgramKind, TruthKind, When, trace};
pub use record::{Hooking, budget, cost, pace, profile, report, tally};
