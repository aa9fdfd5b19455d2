//! The sampler in turns with something else within one run, so that both meet the same program on
//! the same machine: a developer's measurement.

use serde::{Deserialize, Serialize};

/// What a turn is for.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The sampler.
    Checks,
    /// The bare loop: a signal to a thread, whose handler walks its stack, and the answer is
    /// waited for. Nothing is copied or compared. Tells how fast the sampler is.
    Loop,
    /// Nobody is asked for anything. Tells what the sampler costs the program.
    Rest,
}

/// What came of one turn.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paced {
    /// What it was for.
    pub pace: Pace,
    /// Walks that were answered, with frames or an error.
    pub answers: u64,
    /// When it began, in nanoseconds of `CLOCK_MONOTONIC`, which `System.nanoTime` reads too.
    pub start_ns: u64,
    /// When it was over.
    pub end_ns: u64,
}

impl Paced {
    /// Answers per second.
    pub fn rate(&self) -> f64 {
        self.answers as f64 * 1e9 / self.end_ns.saturating_sub(self.start_ns) as f64
    }
}
