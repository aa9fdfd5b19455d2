//! How much a walk may read.
//!
//! Everything a walk does, it does because of words that it has read: each step of a simulation, of a
//! search and of an unwind table reads. So the number of reads bounds the work. A clock would not do:
//! the thread may lose its processor in the middle of a walk.

use std::cell::Cell;

/// What a read that faults costs, in reads. The kernel delivers a signal, and returns from it.
pub const FAULT: u32 = 1024;

/// The reads that are left.
pub struct Budget(Cell<u32>);

impl Budget {
    /// A budget that nothing exhausts but a walk without an end.
    #[inline]
    pub fn new() -> Budget {
        Budget(Cell::new(u32::MAX))
    }

    /// Leaves `reads`.
    #[inline]
    pub fn set(&self, reads: u32) {
        self.0.set(reads);
    }

    /// Adds `reads`.
    #[inline]
    pub fn add(&self, reads: u32) {
        self.0.set(self.0.get().saturating_add(reads));
    }

    /// Whether no read is left.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes one read; false if none is left.
    #[inline]
    pub fn take_read(&self) -> bool {
        let left = self.0.get().checked_sub(1);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Takes what a fault costs.
    #[cold]
    pub fn take_fault(&self) {
        self.0.set(self.0.get().saturating_sub(FAULT));
    }
}
