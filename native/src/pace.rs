//! A developer's measurement: how much slower the sampler is than a loop that checks nothing,
//! in turns within one run, so that both meet the same program on the same machine.

use oracle::pace::{Pace, Paced};
use std::time::{Duration, Instant};

/// How long each turn takes.
const TURN: Duration = Duration::from_secs(1);

/// Whose turn it is.
pub struct Turns {
    pace: Option<Pace>,
    since: Instant,
}

impl Turns {
    /// The sampler's alone, or one after the other.
    pub fn new(several: bool) -> Turns {
        Turns {
            pace: several.then_some(Pace::Loop),
            since: Instant::now(),
        }
    }

    /// Whose turn it is.
    pub fn pace(&self) -> Pace {
        self.pace.unwrap_or(Pace::Checks)
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.pace.is_some() && self.since.elapsed() >= TURN
    }

    /// Passes the turn on; what came of the last, in which there were `answers`.
    pub fn pass_on(&mut self, answers: u64) -> Paced {
        let pace = self.pace();
        let seconds = self.since.elapsed().as_secs_f64();
        self.pace = Some(pace.next());
        self.since = Instant::now();
        Paced {
            pace,
            answers,
            seconds,
        }
    }
}
