//! A measurement for developers: the sampler alternates with another pace within one run, so that
//! both run with the same program on the same machine.

use serde::{Deserialize, Serialize};

/// The pace of a turn.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The sampler.
    Checks,
    /// A bare loop: a signal to a thread, whose handler walks its stack, and the wait for the
    /// answer. Nothing is copied or compared. This pace shows how fast the sampler is.
    Loop,
    /// No thread is asked. This pace shows what the sampler costs the program.
    Rest,
}

/// The result of one turn.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paced {
    /// Its pace.
    pub pace: Pace,
    /// Walks that were answered, with frames or an error.
    pub answers: u64,
    /// When it began, in nanoseconds of `CLOCK_MONOTONIC`, which `System.nanoTime` reads too.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

impl Paced {
    /// Answers per second.
    pub fn rate(&self) -> f64 {
        self.answers as f64 * 1e9 / self.end_ns.saturating_sub(self.start_ns) as f64
    }
}
