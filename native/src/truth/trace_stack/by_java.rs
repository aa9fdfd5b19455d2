//! What hooks in Java may do to a trace stack by themselves.
//!
//! Hooks in Java write the same entries as [`TraceStack::push`] and lower the depth as
//! [`TraceStack::pop`] does. The word before the entries says whether they may. Its lower half is the
//! depth.
//!
//! * Light hooks may push below a depth, the *gate*, and pop up to this depth: the capacity, or 0.
//! * Exact hooks may push and pop as often as the gate says, and count it down with each. So the
//!   agent knows how many pushes and pops there were: the depth says how many more pushes than pops.
//!
//! In doubt they may do nothing.

use super::stack::TraceStack;
use std::sync::atomic::Ordering::Relaxed;

/// Exact hooks that have run in Java.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct RanInJava {
    /// Entries that were pushed.
    pub pushes: u32,
    /// Entries that were popped, each by the hook that it belongs to.
    pub pops: u32,
}

/// What exact hooks may still do in Java.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Left(pub u32);

impl TraceStack {
    /// Makes light hooks push natively, so that the next push is a native push.
    pub fn close(&self) {
        self.head().gate.store(0, Relaxed);
    }

    /// Whether light hooks must push natively.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.head().gate.load(Relaxed) == 0
    }

    /// Allows light hooks to push by themselves, except in doubt.
    pub fn open(&self) {
        if !self.is_doubtful() {
            self.head().gate.store(self.capacity(), Relaxed);
        }
    }

    /// Allows the next exact hooks to run in Java: so many, or as many as there is room for, or none
    /// in doubt.
    #[inline(always)]
    pub fn allow(&self, hooks: Left) {
        let room = self.capacity().saturating_sub(self.depth());
        self.set_allowed(match self.is_doubtful() {
            false => hooks.0.min(room),
            true => 0,
        });
    }

    /// The exact hooks that have run in Java since they were allowed, and how many are left. A hook
    /// that a StackOverflowError ended may count as a pop.
    #[inline(always)]
    pub fn ran_in_java(&self) -> (RanInJava, Left) {
        let left = self.head().gate.load(Relaxed);
        let hooks = self.allowed().hooks.load(Relaxed).wrapping_sub(left);
        let rise = self.depth().wrapping_sub(self.allowed().at.load(Relaxed)) as i32;
        let pops = (i64::from(hooks) - i64::from(rise)) / 2;
        let pops = pops.clamp(0, i64::from(hooks)) as u32;
        let pushes = hooks - pops;
        (RanInJava { pushes, pops }, Left(left))
    }
}
