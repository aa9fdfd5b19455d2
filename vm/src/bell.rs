//! How signal handlers wake a thread.

use crate::futex;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, fence};
use std::time::{Duration, Instant};

/// How long the listener spins before it sleeps.
const SPIN: Duration = Duration::from_micros(40);

/// A bell with one listener.
pub struct Bell {
    rings: AtomicU32,
    /// Whether the listener sleeps. A handler needs a system call only then.
    sleeping: AtomicBool,
}

impl Default for Bell {
    fn default() -> Bell {
        Bell::new()
    }
}

impl Bell {
    /// A bell that does not ring.
    pub const fn new() -> Bell {
        Bell {
            rings: AtomicU32::new(0),
            sleeping: AtomicBool::new(false),
        }
    }

    /// Wakes the listener, if it sleeps. The condition of the wait must have been stored before. Async-signal-safe.
    pub fn ring(&self) {
        // With the fence in `sleep`: either this function sees that the listener sleeps, or the listener sees the
        // condition.
        fence(SeqCst);
        if !self.sleeping.load(SeqCst) {
            return;
        }
        self.rings.fetch_add(1, SeqCst);
        futex::wake_one(&self.rings);
    }

    /// Waits until `is_done`. Returns false after `patience`. Only the listener may call this.
    pub fn wait(&self, patience: Duration, is_done: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        // A running thread answers within this time. Sleeping would take longer.
        while start.elapsed() < SPIN.min(patience) {
            if is_done() {
                return true;
            }
            spin_loop();
        }
        self.sleeping.store(true, SeqCst);
        let done = self.sleep(start, patience, is_done);
        self.sleeping.store(false, SeqCst);
        done
    }

    fn sleep(&self, start: Instant, patience: Duration, is_done: impl Fn() -> bool) -> bool {
        loop {
            let rings = self.rings.load(SeqCst);
            fence(SeqCst);
            if is_done() {
                return true;
            }
            let Some(left) = patience.checked_sub(start.elapsed()) else {
                return false;
            };
            futex::wait(&self.rings, rings, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bell_wakes_the_sleeping_listener_and_never_waits_for_ever() {
        static BELL: Bell = Bell::new();
        static DONE: AtomicBool = AtomicBool::new(false);
        let is_done = || DONE.load(SeqCst);
        assert!(!BELL.wait(Duration::from_millis(1), is_done));
        let ringer = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            DONE.store(true, SeqCst);
            BELL.ring();
        });
        // Only the ring can end this wait before the test's own deadline.
        assert!(BELL.wait(Duration::from_secs(600), is_done));
        ringer.join().expect("it does not panic");
    }
}
