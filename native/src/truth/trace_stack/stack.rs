//! The trace stack itself.

use super::copy::StackCopy;
use super::head::{Allowed, Balance, Entry, Head, LEAVING, Token, hook_of};
use crate::jvm::os::memory::Reserved;
use oracle::tally::Drop;
use oracle::trace::{Frame, HookId};
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, compiler_fence};

/// The trace stack of one thread.
#[derive(Debug)]
pub struct TraceStack {
    head: NonNull<Head>,
    capacity: u32,
    entries: NonNull<Entry>,
    frames: NonNull<Frame>,
    frames_capacity: u32,
    /// In doubt (entries may belong to frames that an error of the VM ended without a hook): the
    /// lowest depth since then. The entries below this depth are older than the doubt. Else
    /// [`NO_DOUBT`].
    pub(super) doubt: AtomicU32,
    /// The depth after the hook of the last frame that an exception left, if no entry was pushed
    /// since. Else a number above every depth.
    pub(super) unwound: AtomicU32,
    /// What hooks in Java were allowed.
    allowed: Allowed,
    /// The memory of both, which other trace stacks may share.
    _memory: Arc<Reserved<u64>>,
}

// SAFETY: only the owning thread uses it, as described above; it passes from one owner to
// the next through a lock.
unsafe impl Sync for TraceStack {}
// SAFETY: as above.
unsafe impl Send for TraceStack {}

/// The value of `doubt` for a stack without doubt.
pub(super) const NO_DOUBT: u32 = u32::MAX;

impl TraceStack {
    /// The entries that a thread with a stack of `stack_bytes` can need, a power of two: a compiled frame has at
    /// least eight bytes for each entry, inlined frames included. The last one is only there to show that more were
    /// needed, as `by_java` says.
    fn slots(stack_bytes: usize) -> usize {
        (stack_bytes / 8)
            .clamp(1 << 12, 1 << 26)
            .next_power_of_two()
    }

    /// Whether this trace stack is large enough for a thread with a stack of `stack_bytes`.
    pub fn serves(&self, stack_bytes: usize) -> bool {
        self.capacity as usize >= Self::slots(stack_bytes) - 1
    }

    /// An empty trace stack for a thread with a stack of `stack_bytes`.
    pub fn new(stack_bytes: usize) -> io::Result<TraceStack> {
        let mut one = Self::several(stack_bytes, 1)?;
        one.next().ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// This many empty trace stacks in one mapping, because the kernel limits the number of
    /// mappings.
    pub fn several(
        stack_bytes: usize,
        count: usize,
    ) -> io::Result<impl Iterator<Item = TraceStack>> {
        const WORD: usize = size_of::<u64>();
        let slots = Self::slots(stack_bytes);
        let (capacity, frames_capacity) = (slots - 1, 2 * slots);
        let entry_words = (size_of::<Head>() + slots * size_of::<Entry>()) / WORD;
        let words = entry_words + frames_capacity * size_of::<Frame>() / WORD;
        let memory = Arc::new(Reserved::new(words * count)?);
        Ok((0..count).map(move |index| {
            // SAFETY: both lie within the memory, which is large enough for `count` of them.
            let (head, frames) = unsafe {
                let start = memory.start().add(index * words);
                (start.cast::<Head>(), start.add(entry_words).cast())
            };
            let stack = TraceStack {
                head,
                capacity: capacity as u32,
                // SAFETY: they begin where the head ends.
                entries: unsafe { head.add(1).cast() },
                frames,
                frames_capacity: frames_capacity as u32,
                doubt: AtomicU32::new(NO_DOUBT),
                unwound: AtomicU32::new(u32::MAX),
                allowed: Allowed::default(),
                _memory: memory.clone(),
            };
            stack.head().mask.store(stack.capacity, Relaxed);
            stack.open();
            stack
        }))
    }

    #[inline(always)]
    pub(super) fn head(&self) -> &Head {
        // SAFETY: within its memory; zeroed, it is a valid head.
        unsafe { self.head.as_ref() }
    }

    /// How many entries can be stored.
    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The entry that is only there to show that the stack was full.
    pub(super) fn last_slot(&self) -> &Entry {
        // SAFETY: there is one entry more than the capacity, and zeroed memory is a valid entry.
        unsafe { self.entries.add(self.capacity as usize).as_ref() }
    }

    /// What hooks in Java were allowed.
    pub(super) fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// The address of the entries for hooks in Java. The head is before the entries.
    pub fn entries_address(&self) -> usize {
        self.entries.addr().get()
    }

    #[inline(always)]
    pub(super) fn entry(&self, index: u32) -> Option<&Entry> {
        // SAFETY: below the capacity, and zeroed memory is a valid entry.
        (index < self.capacity).then(|| unsafe { self.entries.add(index as usize).as_ref() })
    }

    /// The number of hooked frames.
    #[inline(always)]
    pub fn depth(&self) -> u32 {
        self.head().depth.load(Relaxed)
    }

    /// Lets so many of the next hooks run in Java.
    #[inline(always)]
    pub(super) fn set_allowed(&self, hooks: u32) {
        self.allowed.hooks.store(hooks, Relaxed);
        self.allowed.at.store(self.depth(), Relaxed);
        self.head().limit.store(hooks, Relaxed);
    }

    /// Puts a hooked frame on the stack.
    #[inline(always)]
    pub fn push(&self, hook: HookId) -> Token {
        let depth = self.depth();
        if let Some(entry) = self.entry(depth) {
            let below = depth.checked_sub(1).and_then(|below| self.entry(below));
            let checked = below.map_or(0, |entry| entry.checked.load(Relaxed));
            entry.hook.store(hook.0, Relaxed);
            entry.checked.store(checked, Relaxed);
        } else {
            // An id that is not stored cannot be found later.
            self.doubt();
        }
        self.unwound.store(u32::MAX, Relaxed);
        self.set_depth(depth.wrapping_add(1));
        Token::sure(depth)
    }

    /// The token of the newest frame with this hook, for a method without a token; `None` if there
    /// is no such frame. `hooks/code.rs` of `instrumenter` says why this is the frame that runs the
    /// hook.
    #[inline(always)]
    pub fn newest(&self, hook: HookId) -> Option<Token> {
        let top = self.depth().checked_sub(1)?;
        match self.entry(top) {
            Some(entry) if hook_of(entry.hook.load(Relaxed)) == hook && !self.is_doubtful() => {
                Some(Token::sure(top))
            }
            Some(_) => self.search(hook),
            None => Some(Token::guessed(top)),
        }
    }

    #[cold]
    fn search(&self, hook: HookId) -> Option<Token> {
        let is_of_hook = |&index: &u32| {
            let entry = self.entry(index);
            entry.is_some_and(|entry| hook_of(entry.hook.load(Relaxed)) == hook)
        };
        let mut found = (0..self.depth()).rev().filter(is_of_hook);
        let depth = found.next()?;
        Some(if self.is_doubtful() && found.next().is_some() {
            Token::guessed(depth)
        } else {
            Token::sure(depth)
        })
    }

    /// Removes the entry of `token`, and all entries above.
    #[inline(always)]
    pub fn pop(&self, token: Token) -> Balance {
        let balance = self.balance(token);
        if balance != Balance::TooFew {
            self.cut(token, token.depth);
        }
        balance
    }

    /// Makes the entry of `token` the top again, where an exception handler of its method starts.
    #[inline(always)]
    pub fn catch(&self, token: Token) -> Balance {
        let balance = self.balance(token);
        // The entry is still in memory, because nothing was pushed since it was popped.
        if balance != Balance::TooFew || self.depth() == token.depth {
            self.cut(token, token.depth.wrapping_add(1));
            self.mark_top(|hook| hook & !LEAVING);
        }
        balance
    }

    /// An exception goes into the top frame. If the frame has a handler, the handler's hook runs
    /// next. If not, the frame ends too. Until then it is not known whether the frame has ended.
    pub fn leave(&self) {
        self.mark_top(|hook| hook | LEAVING);
        self.unwound.store(self.depth(), Relaxed);
    }

    fn mark_top(&self, change: impl Fn(u32) -> u32) {
        if let Some(top) = self.top() {
            top.hook.store(change(top.hook.load(Relaxed)), Relaxed);
        }
    }

    fn top(&self) -> Option<&Entry> {
        self.depth().checked_sub(1).and_then(|top| self.entry(top))
    }

    /// Sets the depth for a hook of the frame of `token`. All newer frames have ended.
    #[inline(always)]
    fn cut(&self, token: Token, depth: u32) {
        if self.is_doubtful() {
            return self.cut_in_doubt(token, depth);
        }
        self.set_depth(depth);
    }

    #[inline(always)]
    fn balance(&self, token: Token) -> Balance {
        let depth = self.depth();
        if depth == token.depth.wrapping_add(1) {
            Balance::Even
        } else if depth > token.depth {
            Balance::TooMany(depth - token.depth - 1)
        } else {
            Balance::TooFew
        }
    }

    #[inline(always)]
    pub(super) fn set_depth(&self, depth: u32) {
        compiler_fence(Release);
        self.head().depth.store(depth, Relaxed);
    }

    /// The hooked frames, bottom first.
    pub fn hooks(&self) -> impl Iterator<Item = HookId> {
        self.from(0)
    }

    /// The hooked frames above the entry of `token`.
    pub fn above(&self, token: Token) -> impl Iterator<Item = HookId> {
        self.from(token.depth.saturating_add(1))
    }

    fn from(&self, lowest: u32) -> impl Iterator<Item = HookId> {
        let entries = lowest..self.depth();
        entries.filter_map(|index| Some(hook_of(self.entry(index)?.hook.load(Relaxed))))
    }

    /// The lowest `n` of the entries that the last change removed. Valid until the next push.
    pub fn dropped(&self, n: u32) -> impl Iterator<Item = HookId> {
        let depth = self.depth();
        let dropped = depth..depth.saturating_add(n + 1);
        dropped.filter_map(|index| Some(hook_of(self.entry(index)?.hook.load(Relaxed))))
    }

    /// Empties the stack for the next thread.
    pub fn clear(&self) {
        self.set_depth(0);
        self.forget_mismatches();
        self.doubt.store(NO_DOUBT, Relaxed);
    }

    /// How many frames belong to the newest checked frame.
    fn checked(&self) -> u32 {
        self.top().map_or(0, |entry| entry.checked.load(Relaxed))
    }

    /// Records the whole stack at a check of the top frame. `frames` has the top frame first. The
    /// part that it shares with the newest checked frame must have been compared. A stack that does
    /// not fit is not recorded, and the record before stays.
    pub fn record(&self, frames: &[Frame]) {
        let Some(top) = self.top() else {
            return;
        };
        let (length, known) = (frames.len(), self.checked() as usize);
        if length > self.frames_capacity as usize {
            return;
        }
        for index in known.saturating_sub(1)..length {
            // SAFETY: `index` is below the capacity; only this thread writes, and no reader
            // looks at these frames before the store below.
            unsafe { self.frames.add(index).write(frames[length - 1 - index]) };
        }
        compiler_fence(Release);
        top.checked.store(length as u32, Relaxed);
    }

    /// Copies the stack. Async-signal-safe; on the owning thread only.
    ///
    /// # Errors
    /// If the stack is in doubt, or if it does not fit into the copy.
    pub fn copy_to(&self, copy: &mut StackCopy) -> Result<(), Drop> {
        let depth = self.depth() as usize;
        copy.clear();
        if depth > self.capacity as usize || self.was_full() {
            return Err(Drop::TraceStackFull);
        }
        if self.is_doubtful() || self.has_mismatches() {
            return Err(Drop::InDoubt);
        }
        let checked = self.checked() as usize;
        if depth.max(checked) > copy.capacity() {
            return Err(Drop::TooDeep);
        }
        // SAFETY: both are within this stack's capacity. The owning thread is the one that runs
        // here, so nothing changes meanwhile.
        unsafe { copy.fill((self.entries, depth), (self.frames, checked)) };
        Ok(())
    }

    /// Whether the entries' checked lengths never decrease from bottom to top and lie within the
    /// frames: the part of layer `ground` about these lengths.
    pub fn is_consistent(&self) -> bool {
        let stored = self.depth().min(self.capacity);
        let mut last = 0;
        for index in 0..stored {
            let Some(entry) = self.entry(index) else {
                return false;
            };
            let checked = entry.checked.load(Relaxed);
            if checked < last || checked > self.frames_capacity {
                return false;
            }
            last = checked;
        }
        true
    }
}
