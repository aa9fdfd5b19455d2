//! A measurement for developers: the sampler alternates with another pace (see [`oracle::pace`]).

use crate::jvm::os::clock;
use oracle::pace::{Pace, Paced};

/// How long each turn takes, in nanoseconds.
const TURN: u64 = 1_000_000_000;

/// Alternating turns.
pub struct Turns {
    other: Option<Pace>,
    pace: Pace,
    start_ns: u64,
}

impl Turns {
    /// The sampler alone, or the sampler in turns with `other`, which begins.
    pub fn new(other: Option<Pace>) -> Turns {
        Turns {
            other,
            pace: other.unwrap_or(Pace::Checks),
            start_ns: now(),
        }
    }

    /// The pace of the current turn.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether the current turn is over.
    pub fn is_over(&self) -> bool {
        self.other.is_some() && now() - self.start_ns >= TURN
    }

    /// Starts the next turn. Returns the result of the last turn, in which there were `answers`.
    pub fn pass_on(&mut self, answers: u64) -> Paced {
        let paced = Paced {
            pace: self.pace,
            answers,
            start_ns: self.start_ns,
            end_ns: now(),
        };
        self.pace = match (self.pace, self.other) {
            (Pace::Checks, Some(other)) => other,
            _ => Pace::Checks,
        };
        self.start_ns = paced.end_ns;
        paced
    }
}

/// The time of `CLOCK_MONOTONIC`, in nanoseconds, as other processes know it.
fn now() -> u64 {
    clock::monotonic().as_nanos() as u64
}
