//! The doubt: entries may belong to frames that an error of the VM ended without a hook.

use super::head::{Entry, OLD, Token, hook_of};
use super::stack::{NO_DOUBT, TraceStack};
use oracle::trace::HookId;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::compiler_fence;

impl TraceStack {
    /// Whether entries may belong to frames that an error of the VM ended without a hook.
    #[inline(always)]
    pub fn is_doubtful(&self) -> bool {
        self.doubt.load(Relaxed) != NO_DOUBT
    }

    /// From now on the stack is in doubt, until a hook proves that there are no such entries.
    #[cold]
    pub fn doubt(&self) {
        if !self.is_doubtful() {
            // Hooks in Java have not kept it.
            self.unwound.store(u32::MAX, Relaxed);
            self.mark_old();
        }
        self.doubt_from(self.depth());
    }

    /// As [`doubt`](Self::doubt), where only entries below `depth` are older than the doubt.
    #[cold]
    pub(super) fn doubt_from(&self, depth: u32) {
        self.doubt.fetch_min(depth, Relaxed);
        self.set_allowed(0);
    }

    /// Marks all entries, because a hook in Java may pop them in doubt, and tells nobody.
    fn mark_old(&self) {
        for index in 0..self.depth().min(self.capacity()) {
            if let Some(entry) = self.entry(index) {
                entry.hook.fetch_or(OLD, Relaxed);
            }
        }
    }

    /// In doubt: the lowest depth since then. The entries that are still marked are below all others.
    fn since(&self) -> u32 {
        let (mut low, mut high) = (0, self.doubt.load(Relaxed).min(self.depth()));
        while low < high {
            let middle = low + (high - low) / 2;
            let is_old = |entry: &Entry| entry.hook.load(Relaxed) & OLD != 0;
            if self.entry(middle).is_some_and(is_old) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Whether the stack is in doubt, and no frame was pushed since an exception left one. Then
    /// entries of frames that have ended can only be above the entries of active frames.
    pub fn may_be_settled(&self) -> bool {
        self.is_doubtful() && self.unwound.load(Relaxed) == self.depth()
    }

    /// Ends a doubt that may be settled. `active` has the hooks of the active frames, bottom first.
    /// All entries above these are removed. Between them, other entries may be only where
    /// `may_lack` allows. If `active` does not fit, or fits in several ways, the doubt stays.
    pub fn settle(&self, active: &[HookId], may_lack: impl Fn(HookId) -> bool) {
        let entries = || {
            (0..self.depth()).map_while(|index| {
                let hook = self.entry(index)?.hook.load(Relaxed);
                Some((index, hook_of(hook)))
            })
        };
        // An active frame keeps the place of its entry, so the entry must not be taken for another's.
        let is_open = |&hook: &HookId| {
            let all = || entries().filter(|entry| entry.1 == hook).count();
            may_lack(hook) && all() != active.iter().filter(|&&other| other == hook).count()
        };
        if active.iter().any(is_open) {
            return;
        }
        let mut entries = entries();
        let mut depth = 0;
        for &wanted in active {
            match entries.find(|&(_, hook)| hook == wanted || !may_lack(hook)) {
                Some((index, hook)) if hook == wanted => depth = index + 1,
                _ => return,
            }
        }
        self.set_depth(depth);
        compiler_fence(Release);
        self.doubt.store(NO_DOUBT, Relaxed);
    }

    /// Ends the doubt if the stack is empty, or if an entry from before the doubt certainly belongs
    /// to an active frame: frames that have ended were newer.
    #[cold]
    pub(super) fn cut_in_doubt(&self, token: Token, depth: u32) {
        let since = self.since();
        self.set_depth(depth);
        let proves = token.is_sure() && token.depth < since;
        let since = if proves || self.depth() == 0 {
            NO_DOUBT
        } else {
            since.min(self.depth())
        };
        compiler_fence(Release);
        self.doubt.store(since, Relaxed);
    }
}
