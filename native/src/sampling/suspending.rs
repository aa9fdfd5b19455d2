//! When the sampler may suspend a thread.

use crate::jvm::jvmti::Error;
use std::time::Instant;

/// Suspensions take at most one part in so many of the sampler's time: some walkers walk all threads.
const ONE_IN: u32 = 10;

/// `JVMTI_ERROR_MUST_POSSESS_CAPABILITY`: another agent has `can_suspend`, which only one may have.
const NO_CAPABILITY: Error = 99;

/// When the next thread may be suspended.
pub struct Suspensions {
    /// From when on; none where the agent may suspend no thread.
    next: Option<Instant>,
}

impl Suspensions {
    /// At once.
    pub fn new() -> Suspensions {
        Suspensions {
            next: Some(Instant::now()),
        }
    }

    /// Whether a thread may be suspended now.
    pub fn is_time(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    /// SuspendThread failed: for good if the agent must not do so; else the thread has ended.
    pub fn failed(&mut self, error: Error) {
        if error == NO_CAPABILITY {
            self.next = None;
        }
    }

    /// A suspension that began at `start` is over.
    pub fn ended(&mut self, start: Instant) {
        let now = Instant::now();
        self.next = Some(now + (now - start) * (ONE_IN - 1));
    }
}
