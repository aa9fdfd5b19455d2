//! The oracle says what a stack walk of a JVM is worth: judges, call edges, injected faults, the statistics of decisions, the
//! records of a run and `report.json`.
//!
//! A stack walker, such as AsyncGetCallTrace, returns the frames of a thread. The oracle compares
//! such a walk with the truth at that instant and gives a [`Verdict`]. It also counts verdicts,
//! describes runs and reports, and decides whether a report is good enough.
//!
//! # Purpose
//!
//! Every comparison is one *layer*: a walker, a truth, an instant and a kind of program. [`LAYERS`] is
//! the table of all layers; nothing else lists them. Each truth is a file of [`judge`],
//! which says when a walk is wrong.
//!
//! A [`judge::Truth`] returns a [`Judgement`]: the verdict, the first frame that differs, and the [`Reason`].
//!
//! # Parts
//!
//! * [`trace`] and the table of layers: the types that all parts share;
//! * [`edge`]: whether one frame can lie on another, by the class files. What a JVM calls by itself is
//!   behind the trait [`edge::Runtime`];
//! * [`judge`]: the truths and their judges;
//! * [`mutants`]: fault injection, which tests that the judges notice false walks;
//! * [`bias`]: which methods a walker counts too often or too rarely;
//! * [`record`]: the files of runs: the agent's configuration, its records and counts ([`tally`]),
//!   and `report.json` ([`report`]);
//! * [`observer`]: what the same program shows with one kind of hooks and not with another;
//! * [`recorded`]: real samples as files, to be judged again without a JVM;
//! * [`requests`]: requests of the JVM's own samplers as a file, to be joined with a recording;
//! * [`gate`]: the decision on a report, by observed rates or by the upper bounds of [`bound`];
//!   comparing reports with a baseline, cell by cell, and merging reports.
//!
//! Each part needs only those above it in this list, except that [`bound`] and [`recorded`] need nothing.
//!
//! # Duties of the caller
//!
//! * A truth must be that of the instant of the walk. The oracle cannot see whether a trace stack was
//!   copied too late.
//! * The caller gives facts about methods through [`trace::Methods`], and withdraws a mismatch if a
//!   method was redefined or unloaded since.
//! * Counts live in memory that the caller provides ([`tally::slot`]).
//! * The cause of a mismatch is a claim about one JVM: the crate `hotspot` makes it. The oracle only
//!   stores its name ([`record::CauseName`]).
//!
//! # Limits
//!
//! The oracle is pure: it does no I/O, reads no clock, calls no JVM and knows none. A judge reports what
//! its truth forbids, and nothing else. `match` means: the walk agrees as far as the truth reaches. The
//! judges allocate, so they must not run in a signal handler.
#![forbid(unsafe_code)]

pub mod bias;
pub mod edge;
pub mod gate;
pub mod judge;
mod model;
pub mod mutants;
pub mod numbers;
pub mod observer;
mod probability;
pub mod random;
pub mod record;
pub mod recorded;
pub mod requests;

pub use gate::{merge, outcome};
pub use judge::{Judgement, Reason, Verdict};
pub use model::{Element, StepFrame, StepTop, StepTruth};
pub use model::{LAYERS, Layer, LayerRow, ProgramKind, RecordedSampler, TruthKind, When, trace};
pub use probability::bound;
pub use record::{Hooking, budget, cost, pace, profile, report, tally};
