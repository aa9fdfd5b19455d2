//! Wakes a thread from signal handlers, which may call neither a condition variable nor a channel.

use crate::futex;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, fence};
use std::time::{Duration, Instant};

/// How long the waiting thread spins before it sleeps.
const SPIN: Duration = Duration::from_micros(40);

/// Wakes one waiting thread. Any number of handlers may notify it.
pub struct Notifier {
    /// How often the sleeping thread was notified: the word of its futex.
    notified: AtomicU32,
    /// Whether the waiting thread sleeps. A handler needs a system call only then.
    sleeping: AtomicBool,
}

impl Default for Notifier {
    fn default() -> Notifier {
        Notifier::new()
    }
}

impl Notifier {
    /// A notifier on which no thread waits yet.
    pub const fn new() -> Notifier {
        Notifier {
            notified: AtomicU32::new(0),
            sleeping: AtomicBool::new(false),
        }
    }

    /// Wakes the waiting thread, if it sleeps. The condition of the wait must have been stored before. Async-signal-safe.
    pub fn notify(&self) {
        // With the fence in `sleep`: either this function sees that the thread sleeps, or the thread sees the
        // condition.
        fence(SeqCst);
        if !self.sleeping.load(SeqCst) {
            return;
        }
        self.notified.fetch_add(1, SeqCst);
        futex::wake_one(&self.notified);
    }

    /// Waits until `is_done`. Returns false after `patience`. Only one thread at a time may wait.
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
            let notified = self.notified.load(SeqCst);
            fence(SeqCst);
            if is_done() {
                return true;
            }
            let Some(left) = patience.checked_sub(start.elapsed()) else {
                return false;
            };
            futex::wait(&self.notified, notified, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_ends_the_sleep_and_no_wait_lasts_for_ever() {
        static NOTIFIER: Notifier = Notifier::new();
        static DONE: AtomicBool = AtomicBool::new(false);
        let is_done = || DONE.load(SeqCst);
        assert!(!NOTIFIER.wait(Duration::from_millis(1), is_done));
        let notifying = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            DONE.store(true, SeqCst);
            NOTIFIER.notify();
        });
        // Only the notification can end this wait before the test's own deadline.
        assert!(NOTIFIER.wait(Duration::from_secs(600), is_done));
        notifying.join().expect("it does not panic");
    }
}
