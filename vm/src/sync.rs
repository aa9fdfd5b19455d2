//! Atomics and cells of the channels between threads and signal handlers.
//!
//! The channels name these alone, so that `native/models` can run their code with those of loom.

pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize};

/// A value that threads hand to each other.
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell with `value`.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Lets `work` read through the pointer. No other thread may write meanwhile.
    #[inline(always)]
    pub fn with<R>(&self, work: impl FnOnce(*const T) -> R) -> R {
        work(self.0.get())
    }

    /// Lets `work` write through the pointer. No other thread may use the value meanwhile.
    #[inline(always)]
    pub fn with_mut<R>(&self, work: impl FnOnce(*mut T) -> R) -> R {
        work(self.0.get())
    }
}
