//! How fast the sampler is, against a loop that checks nothing: a developer's measurement.

use serde::{Deserialize, Serialize};

/// What is measured, in turns within one run.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The bare loop: a signal to a thread, whose handler walks its stack, and the answer is
    /// waited for. Nothing is copied or compared.
    Loop,
    /// The sampler.
    Checks,
}

impl Pace {
    /// Whose turn is next.
    pub fn next(self) -> Pace {
        match self {
            Pace::Loop => Pace::Checks,
            Pace::Checks => Pace::Loop,
        }
    }
}

/// What came of one turn.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paced {
    /// Whose turn it was.
    pub pace: Pace,
    /// Walks that were answered, with frames or an error.
    pub answers: u64,
    /// How long it took.
    pub seconds: f64,
}

impl Paced {
    /// Answers per second.
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.seconds
    }
}
