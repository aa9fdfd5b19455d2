//! What hooks in Java may do to a trace stack by themselves.
//!
//! Hooks in Java write the same entries as [`TraceStack::push`] and lower the depth as
//! [`TraceStack::pop`] does. The word before the entries says whether they may. Its lower half is the
//! depth.
//!
//! * Light hooks may push below a depth, the *limit*, and pop up to this depth: the capacity, or 0.
//! * *Plain* hooks, which most methods get in light mode, have no slow path: a branch to a native method would cost more
//!   compile time than the rest of the hook. They take the index of an entry modulo a power of two, so that they never leave
//!   the entries. A plain pop compares the id that it finds with its own, or the depth with that of its token, and keeps the
//!   difference. So what went wrong is
//!   noticed afterwards, by each reader and by the next native hook: the pops *have mismatches*, or the stack *was full*,
//!   as its last entry shows, which is never used otherwise.
//! * Exact hooks may push and pop as often as the *limit* says, and count it down with each. So the
//!   agent knows how many pushes and pops there were: the depth says how many more pushes than pops.
//!
//! In doubt exact hooks, and light hooks that ask, may do nothing.

use super::head::{LEAVING, OLD};
use super::stack::TraceStack;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::compiler_fence;

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
        self.head().limit.store(0, Relaxed);
    }

    /// Whether light hooks must push natively.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.head().limit.load(Relaxed) == 0
    }

    /// Allows light hooks to push by themselves, except in doubt.
    pub fn open(&self) {
        if !self.is_doubtful() {
            self.head().limit.store(self.capacity(), Relaxed);
        }
    }

    /// Whether a plain pop has met the entry of another method.
    #[inline(always)]
    pub(super) fn has_mismatches(&self) -> bool {
        self.head().mismatches.load(Relaxed) & !(LEAVING | OLD) != 0
    }

    /// Whether plain pushes have met the end of the entries.
    #[inline(always)]
    pub(super) fn was_full(&self) -> bool {
        self.last_slot().hook.load(Relaxed) != 0
    }

    /// Notices what plain hooks have kept: from now on the stack is in doubt. Which entries are older than the doubt is
    /// not known. False if there was nothing to notice.
    #[inline(always)]
    pub fn notice(&self) -> bool {
        let is_wrong = self.has_mismatches() || self.was_full();
        if is_wrong {
            self.notice_wrong();
        }
        is_wrong
    }

    #[cold]
    fn notice_wrong(&self) {
        self.doubt();
        self.doubt_from(0);
        // More pops than pushes.
        if self.depth() > u32::MAX / 2 {
            self.set_depth(0);
        }
        compiler_fence(Release);
        self.forget_mismatches();
    }

    /// Forgets what plain hooks have kept.
    pub(super) fn forget_mismatches(&self) {
        self.head().mismatches.store(0, Relaxed);
        // Most stacks never have this page.
        if self.was_full() {
            self.last_slot().hook.store(0, Relaxed);
        }
    }

    /// Allows the next exact hooks to run in Java: so many, or as many as there is room for, or none
    /// in doubt.
    #[inline(always)]
    pub fn allow(&self, hooks: Left) {
        let room = self.capacity().saturating_sub(self.depth());
        self.set_allowed(if self.is_doubtful() {
            0
        } else {
            hooks.0.min(room)
        });
    }

    /// The exact hooks that have run in Java since they were allowed, and how many are left. A hook
    /// that a StackOverflowError ended may count as a pop.
    #[inline(always)]
    pub fn ran_in_java(&self) -> (RanInJava, Left) {
        let left = self.head().limit.load(Relaxed);
        let hooks = self.allowed().hooks.load(Relaxed).wrapping_sub(left);
        let rise = self.depth().wrapping_sub(self.allowed().at.load(Relaxed)) as i32;
        let pops = (i64::from(hooks) - i64::from(rise)) / 2;
        let pops = pops.clamp(0, i64::from(hooks)) as u32;
        let pushes = hooks - pops;
        (RanInJava { pushes, pops }, Left(left))
    }
}
