//! When the sampler does what: turns in which it alternates with another pace, a measurement for developers (see
//! [`oracle::pace`]), and the share of its time in which threads may be suspended.

use crate::jvm::jni::Ref;
use crate::jvm::jvmti::{Error, Jvmti, Suspended};
use crate::jvm::os::clock;
use oracle::pace::{Pace, Paced};
use std::time::{Duration, Instant};

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

/// `JVMTI_ERROR_MUST_POSSESS_CAPABILITY`: another agent has `can_suspend`, which only one agent may
/// have.
const NO_CAPABILITY: Error = 99;

/// The longest pause, in seconds.
const LONGEST: f64 = 3600.0;

/// When the next thread may be suspended.
pub struct Suspensions {
    /// Suspensions take at most this share of the sampler's time, because some walkers walk all threads.
    share: f64,
    /// The earliest time of the next suspension; `None` if the agent may suspend no thread.
    next: Option<Instant>,
}

impl Suspensions {
    /// A thread may be suspended at once, if the share is above 0.
    pub fn new(share: f64) -> Suspensions {
        Suspensions {
            share,
            next: (share > 0.0).then(Instant::now),
        }
    }

    /// Whether a thread may be suspended now.
    pub fn is_time(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    /// Suspends `thread`; `None` if the thread has ended. Without the capability no thread is suspended any more.
    pub fn suspend<'t>(&mut self, jvmti: Jvmti, thread: Ref<'t>) -> Option<Suspended<'t>> {
        match jvmti.suspend(thread) {
            Ok(suspended) => Some(suspended),
            Err(error) => {
                if error == NO_CAPABILITY {
                    self.next = None;
                }
                None
            }
        }
    }

    /// A thread was suspended from `start` to `end`, or until now. The judging that follows is no part of that: the
    /// first answers wait for class files.
    pub fn ended(&mut self, start: Instant, end: Option<Instant>) {
        let end = end.unwrap_or_else(Instant::now);
        let pause = (end - start).as_secs_f64() * (1.0 / self.share - 1.0);
        self.next = Some(end + Duration::from_secs_f64(pause.clamp(0.0, LONGEST)));
    }
}
