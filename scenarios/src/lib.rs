//! Scenarios, and the runner that starts JVMs, watches them and collects their results.
//!
//! # Purpose
//!
//! A [`Scenario`] says what to run and how to judge the outcome. A [`Plan`] lists the single JVMs
//! that the scenario needs. A [`Session`] runs the plan and writes a report after each JVM.
//!
//! | module | holds | uses |
//! |---|---|---|
//! | [`jdk`] | the search for a JDK, and what its `release` file says | |
//! | [`process`] | child processes, their CPU time and their end; signals to this process | |
//! | [`store`] | files of a folder of results, which are never half written | |
//! | [`scenario`] | scenario files and files of known issues | |
//! | [`plan`] | the JVMs to run, and the shards of several machines | `scenario`, `jdk`, `process` |
//! | [`collect`] | from the files of a run to a report | `store`, `jdk` |
//! | [`baseline`] | files with the results of good JVMs | `store` |
//! | [`run`] | the start of a JVM, the wait for its end, the session | all of them |
//!
//! No other module is used by any of these, apart from [`Error`].
//!
//! # Duties of the caller
//!
//! * Call [`interrupt::note`] before [`Session::run`]. Without this call Ctrl-C ends the process at once,
//!   and the report has only the runs that had ended.
//! * A [`Session`] holds its folder of results. No other process can write to the folder meanwhile.
//!
//! # Limits
//!
//! Linux only. A session runs one JVM at a time. Each wait has a deadline, except for a program that the
//! caller gives none. A report has everything that a JVM counted, also if the JVM crashed, hung or was
//! interrupted.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod collect;
mod error;
pub mod jdk;
pub mod plan;
pub mod process;
pub mod run;
pub mod scenario;
pub mod store;
mod text;

pub use error::Error;
pub use plan::Plan;
pub use process::interrupt;
pub use run::check::{Checked, Pair, Task};
pub use run::launch::place_libraries;
pub use run::origin::Maker;
pub use run::reduce::{Reduced, Reduction, Tried};
pub use run::session::{self, Done, Event, Session};
pub use scenario::{Scenario, known};
pub use text::toml_mistake;

/// A random seed, short enough to be typed again.
pub fn random_seed() -> u64 {
    u64::from(rand::random::<u32>())
}
