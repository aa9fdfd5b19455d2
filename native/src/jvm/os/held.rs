//! A value that one thread at a time holds, for its own use and for its signal handlers.

use crate::arch;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A value that one thread at a time holds.
pub struct Held<T> {
    /// What tells the holder from other threads; 0 while nobody holds the value.
    holder: AtomicUsize,
    /// Whether the holder uses the value at this moment.
    is_in_use: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only the holder gets at the value, and a signal handler of the holder does not while the
// holder's own code uses it. `holder` hands the value from one thread to the next.
unsafe impl<T: Send> Sync for Held<T> {}

impl<T> Held<T> {
    /// Nobody holds `value` yet.
    pub fn new(value: T) -> Held<T> {
        Held {
            holder: AtomicUsize::new(0),
            is_in_use: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the value for the calling thread. Returns false if some thread holds it.
    pub fn take(&self) -> bool {
        let me = this_thread();
        self.holder
            .compare_exchange(0, me, Acquire, Relaxed)
            .is_ok()
    }

    /// Whether the calling thread holds the value. Async-signal-safe.
    pub fn is_mine(&self) -> bool {
        self.holder.load(Relaxed) == this_thread()
    }

    /// The calling thread no longer holds the value. Async-signal-safe.
    pub fn give_back(&self) {
        if self.is_mine() {
            self.holder.store(0, Release);
        }
    }

    /// Lends the value to `work`; `None` if another thread holds it, or if this thread uses it already.
    /// Async-signal-safe if `work` is.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.is_mine() || self.is_in_use.swap(true, Acquire) {
            return None;
        }
        // SAFETY: the calling thread holds the value, and `is_in_use` was false.
        let result = work(unsafe { &mut *self.value.get() });
        self.is_in_use.store(false, Release);
        Some(result)
    }
}

/// The address of a word that each thread has of its own.
fn this_thread() -> usize {
    arch::thread_word() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_holds_the_value_and_uses_it_once() {
        let held = Held::new(7);
        assert_eq!(held.with(|value| *value), None, "nobody holds it");
        assert!(held.take());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| (held.take(), held.with(|value| *value)));
            assert_eq!(other.join().expect("it does not panic"), (false, None));
        });
        let inner = held.with(|value| {
            *value += 1;
            held.with(|value| *value)
        });
        assert_eq!(inner, Some(None), "its own handler must not use it too");
        assert_eq!(held.with(|value| *value), Some(8));
        held.give_back();
        assert!(!held.is_mine() && held.take());
    }
}
