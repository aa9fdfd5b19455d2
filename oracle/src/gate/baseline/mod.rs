//! What JVMs that are taken for good have shown: the counts of every cell, run by run.
//!
//! * [`Cell`]: what is counted apart;
//! * [`Set`]: the samples of one platform;
//! * [`samples`]: from a report to samples;
//! * `Standard`: sums over programs, by the rates of a baseline;
//! * [`Baseline`]: the sets of several platforms, as a file has them.

mod cell;
mod file;
mod sampled;
mod set;
mod standard;

pub use cell::{Cell, Family, What};
pub use file::{Baseline, LEAST_AT_PLACE};
pub use sampled::samples;
pub(super) use sampled::samples_without;
pub use set::{Platform, Program, Sample, Set};
pub(super) use standard::{Pools, Standard};
