//! A value that one thread at a time owns: its own code and its signal handlers may use it.

use crate::arch;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A value that one thread at a time owns.
pub struct ThreadOwned<T> {
    /// Identifies the owner among threads; 0 while the value has no owner.
    owner: AtomicUsize,
    /// Whether the owner uses the value at this moment.
    is_in_use: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only the owner gets at the value, and a signal handler of the owner does not while the
// owner's own code uses it. `owner` hands the value from one thread to the next.
unsafe impl<T: Send> Sync for ThreadOwned<T> {}

impl<T> ThreadOwned<T> {
    /// A value without an owner.
    pub fn new(value: T) -> ThreadOwned<T> {
        ThreadOwned {
            owner: AtomicUsize::new(0),
            is_in_use: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Makes the calling thread the owner. Returns false if the value has an owner.
    pub fn take(&self) -> bool {
        let me = this_thread();
        self.owner.compare_exchange(0, me, Acquire, Relaxed).is_ok()
    }

    /// Whether the calling thread owns the value. Async-signal-safe.
    pub fn is_mine(&self) -> bool {
        self.owner.load(Relaxed) == this_thread()
    }

    /// The calling thread no longer owns the value. Async-signal-safe.
    pub fn give_back(&self) {
        if self.is_mine() {
            self.owner.store(0, Release);
        }
    }

    /// Lends the value to `work`; `None` if the calling thread does not own it, or uses it already.
    /// Async-signal-safe if `work` is.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.is_mine() || self.is_in_use.swap(true, Acquire) {
            return None;
        }
        // SAFETY: the calling thread owns the value, and `is_in_use` was false.
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
    fn one_thread_owns_the_value_and_uses_it_once() {
        let owned = ThreadOwned::new(7);
        assert_eq!(owned.with(|value| *value), None, "nobody owns it");
        assert!(owned.take());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| (owned.take(), owned.with(|value| *value)));
            assert_eq!(other.join().expect("it does not panic"), (false, None));
        });
        let inner = owned.with(|value| {
            *value += 1;
            owned.with(|value| *value)
        });
        assert_eq!(inner, Some(None), "its own handler must not use it too");
        assert_eq!(owned.with(|value| *value), Some(8));
        owned.give_back();
        assert!(!owned.is_mine() && owned.take());
    }
}
