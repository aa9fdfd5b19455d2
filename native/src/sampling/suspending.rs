//! When the sampler may suspend a thread.

use crate::jvm::jvmti::Error;
use std::time::Instant;

/// Suspensions take at most this fraction (one in `ONE_IN`) of the sampler's time, because some
/// walkers walk all threads.
const ONE_IN: u32 = 10;

/// `JVMTI_ERROR_MUST_POSSESS_CAPABILITY`: another agent has `can_suspend`, which only one agent may
/// have.
const NO_CAPABILITY: Error = 99;

/// When the next thread may be suspended.
pub struct Suspensions {
    /// The earliest time of the next suspension; `None` if the agent may suspend no thread.
    next: Option<Instant>,
}

impl Suspensions {
    /// A thread may be suspended at once.
    pub fn new() -> Suspensions {
        Suspensions {
            next: Some(Instant::now()),
        }
    }

    /// Whether a thread may be suspended now.
    pub fn is_time(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    /// SuspendThread failed. Without the capability no thread is suspended any more. With another
    /// error the thread has ended.
    pub fn failed(&mut self, error: Error) {
        if error == NO_CAPABILITY {
            self.next = None;
        }
    }

    /// A thread was suspended from `start` to `end`. The judging that follows is no part of that: the
    /// first answers wait for class files.
    pub fn ended(&mut self, start: Instant, end: Instant) {
        self.next = Some(end + (end - start) * (ONE_IN - 1));
    }
}
