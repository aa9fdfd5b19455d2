//! The limit of the time for the search for causes.

use crate::jvm::os::clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The share of the time since the start that the search may take. If every check differs, most of
/// the time is left for checks.
const SHARE: f64 = 0.2;

/// The time that the search may take at once, in nanoseconds.
const AT_ONCE: f64 = 1e9;

/// The time that the search took so far, in nanoseconds, on all threads.
#[derive(Default)]
pub struct Share(AtomicU64);

impl Share {
    /// Calls `look`, unless the search has used its share.
    pub fn take<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        let start = clock::since_start();
        let taken = self.0.load(Relaxed) as f64;
        if taken > AT_ONCE + SHARE * start as f64 {
            return None;
        }
        let found = look();
        let took = clock::since_start().saturating_sub(start);
        self.0.fetch_add(took, Relaxed);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_end_when_their_share_is_taken() {
        let share = Share::default();
        assert_eq!(share.take(|| 7), Some(7));
        share.0.store(u64::MAX / 2, Relaxed);
        assert_eq!(share.take(|| 7), None);
    }
}
