//! The trace stack: what one thread's hooks say of its stack.
//!
//! `entries` holds the hooked frames, index 0 the bottom. `frames` holds the whole stack,
//! unhooked frames included, as it was at the newest `check` whose frame is still active:
//! a checked caller's frames are a part of its callee's, so that the stack of stack traces
//! is stored once. Each entry says how many frames belong to the nearest checked frame at
//! or below it; the last of them is that frame, and its location moves.
//!
//! # Signals
//! Only the owning thread writes. Its signal handler may interrupt it between any two
//! instructions and must see a consistent stack. So every change writes first what no
//! reader looks at yet, and then one word that makes it visible:
//!
//! * `push` writes the entry above the depth, then the depth;
//! * `pop` lowers the depth;
//! * a check writes frames at and above the newest checked frame (whose own location no
//!   reader uses, because it moves), then the top entry's `checked`;
//! * an exception that leaves a frame marks the entry below, one bit of its `hook`.
//!
//! Compiler fences keep that order; the processor keeps its own thread's order by itself.

use crate::jvm::os::reserved::Reserved;
use oracle::trace::{Frame, HookId, Leaving, Truth};
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, compiler_fence};

/// In the `hook` of an entry: an exception has left the frame above, and no hook of this frame
/// has run since. Hook ids do not come so far.
const LEAVING: u32 = 1 << 31;

/// Exceptions that left constructors are looked at up to so many in one stack. Older ones were
/// caught by code without hooks, or there would be no newer ones.
const LEFT: usize = 3;

/// The hook in the word of an entry.
fn hook_of(word: u32) -> HookId {
    HookId(word & !LEAVING)
}

/// One hooked frame.
#[repr(C)]
#[derive(Debug)]
pub struct Entry {
    /// The frame's [`HookId`], perhaps marked as [`LEAVING`].
    pub hook: AtomicU32,
    /// How many of `frames` belong to the nearest checked frame at or below this one.
    pub checked: AtomicU32,
}

/// What lies before the entries, where light hooks reach it from their address.
#[repr(C)]
#[derive(Debug)]
struct Head {
    /// How many entries there are; beyond the capacity they are counted but not stored.
    depth: AtomicU32,
    /// Light hooks push below this depth only: the capacity, or 0.
    limit: AtomicU32,
    /// An entry below the lowest: nothing was checked there.
    ground: Entry,
}

/// The trace stack of one thread.
#[derive(Debug)]
pub struct TraceStack {
    head: NonNull<Head>,
    capacity: u32,
    entries: NonNull<Entry>,
    frames: NonNull<Frame>,
    frames_capacity: u32,
    /// What both lie in, perhaps with those of other stacks.
    _memory: Arc<Reserved<u64>>,
}

// SAFETY: only the owning thread uses it, as described above; it passes from one owner to
// the next through a lock.
unsafe impl Sync for TraceStack {}
// SAFETY: as above.
unsafe impl Send for TraceStack {}

/// The depth before a `push`, which the hooked method keeps for its `pop`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Token(pub u32);

/// What `pop` and its like found where exactly one entry should have been above the token.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Balance {
    /// Just that.
    Even,
    /// This many entries too many: frames ended without `pop`.
    TooMany(u32),
    /// The method's own entry was gone.
    TooFew,
}

impl TraceStack {
    /// The entries that a thread whose own stack has `stack_bytes` can need: a hooked frame,
    /// inlined ones included, keeps at least its token there.
    fn needed(stack_bytes: usize) -> usize {
        (stack_bytes / 8).clamp(1 << 12, 1 << 26)
    }

    /// Whether this is large enough for a thread whose own stack has `stack_bytes`.
    pub fn serves(&self, stack_bytes: usize) -> bool {
        self.capacity as usize >= Self::needed(stack_bytes)
    }

    /// An empty trace stack for a thread whose own stack has `stack_bytes`.
    pub fn new(stack_bytes: usize) -> io::Result<TraceStack> {
        let mut one = Self::several(stack_bytes, 1)?;
        one.next().ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// So many empty trace stacks in one mapping: the kernel limits the number of those.
    pub fn several(
        stack_bytes: usize,
        count: usize,
    ) -> io::Result<impl Iterator<Item = TraceStack>> {
        const WORD: usize = size_of::<u64>();
        let capacity = Self::needed(stack_bytes);
        let frames_capacity = 2 * capacity;
        let entry_words = (size_of::<Head>() + capacity * size_of::<Entry>()) / WORD;
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
                _memory: memory.clone(),
            };
            stack.allow();
            stack
        }))
    }

    #[inline(always)]
    fn head(&self) -> &Head {
        // SAFETY: within its memory; zeroed, it is a valid head.
        unsafe { self.head.as_ref() }
    }

    /// Where light hooks find the entries, and before them the head.
    pub fn entries_address(&self) -> usize {
        self.entries.addr().get()
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> Option<&Entry> {
        // SAFETY: below the capacity, and zeroed memory is a valid entry.
        (index < self.capacity).then(|| unsafe { self.entries.add(index as usize).as_ref() })
    }

    /// The number of hooked frames.
    #[inline(always)]
    pub fn depth(&self) -> u32 {
        self.head().depth.load(Relaxed)
    }

    /// Lets light hooks push no more, so that the next push is a native one.
    pub fn stop(&self) {
        self.head().limit.store(0, Relaxed);
    }

    /// Whether they may not.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.head().limit.load(Relaxed) == 0
    }

    /// Lets light hooks push.
    pub fn allow(&self) {
        self.head().limit.store(self.capacity, Relaxed);
    }

    /// Whether all hooked frames are stored.
    pub fn is_whole(&self) -> bool {
        self.depth() <= self.capacity
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
        }
        self.set_depth(depth.wrapping_add(1));
        Token(depth)
    }

    /// Takes the frame that `token` stands for off the stack, and with it all above it.
    #[inline(always)]
    pub fn pop(&self, token: Token) -> Balance {
        let balance = self.balance(token);
        if balance != Balance::TooFew {
            self.set_depth(token.0);
        }
        balance
    }

    /// Makes the frame that `token` stands for the top again, where an exception handler of
    /// its method starts.
    #[inline(always)]
    pub fn catch(&self, token: Token) -> Balance {
        let balance = self.balance(token);
        // The entry itself is still there: nothing was pushed since it was popped.
        if balance != Balance::TooFew || self.depth() == token.0 {
            self.set_depth(token.0.wrapping_add(1));
            self.mark_top(|hook| hook & !LEAVING);
        }
        balance
    }

    /// An exception is on its way into the top frame. Unless that has a handler, it ends too;
    /// where it has one, its hook runs next. Until then it is not known which.
    pub fn leave(&self) {
        self.mark_top(|hook| hook | LEAVING);
    }

    fn mark_top(&self, change: impl Fn(u32) -> u32) {
        if let Some(top) = self.top() {
            top.hook.store(change(top.hook.load(Relaxed)), Relaxed);
        }
    }

    fn top(&self) -> Option<&Entry> {
        self.depth().checked_sub(1).and_then(|top| self.entry(top))
    }

    #[inline(always)]
    fn balance(&self, token: Token) -> Balance {
        let depth = self.depth();
        if depth == token.0.wrapping_add(1) {
            Balance::Even
        } else if depth > token.0 {
            Balance::TooMany(depth - token.0 - 1)
        } else {
            Balance::TooFew
        }
    }

    #[inline(always)]
    fn set_depth(&self, depth: u32) {
        compiler_fence(Release);
        self.head().depth.store(depth, Relaxed);
    }

    /// The hooked frames above the one that `token` stands for.
    pub fn above(&self, token: Token) -> impl Iterator<Item = HookId> {
        let above = token.0.saturating_add(1)..self.depth();
        above.filter_map(|index| Some(hook_of(self.entry(index)?.hook.load(Relaxed))))
    }

    /// The lowest of the `n` entries that the last change took off, until the next push.
    pub fn dropped(&self, n: u32) -> impl Iterator<Item = HookId> {
        let depth = self.depth();
        let dropped = depth..depth.saturating_add(n + 1);
        dropped.filter_map(|index| Some(hook_of(self.entry(index)?.hook.load(Relaxed))))
    }

    /// Empties the stack, for its next thread.
    pub fn clear(&self) {
        self.set_depth(0);
    }

    /// How many frames belong to the newest checked frame.
    fn checked(&self) -> u32 {
        self.top().map_or(0, |entry| entry.checked.load(Relaxed))
    }

    /// Records the whole stack at a check of the top frame. `frames` has the top frame
    /// first, and what it shares with the newest checked frame must have been compared.
    /// A stack that does not fit is not recorded; what was known stays.
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
    /// `None` if it does not fit or is not whole.
    pub fn copy_to(&self, copy: &mut StackCopy) -> Option<()> {
        let depth = self.depth() as usize;
        copy.clear();
        if depth > self.capacity as usize || depth > copy.capacity {
            return None;
        }
        let checked = self.checked() as usize;
        if checked > copy.capacity {
            return None;
        }
        // SAFETY: both are within both capacities and do not overlap. The owning thread is
        // the one that runs here, so nothing changes meanwhile.
        unsafe {
            let entries = self.entries.cast::<Copied>();
            copy.entries
                .start()
                .copy_from_nonoverlapping(entries, depth);
            copy.frames
                .start()
                .copy_from_nonoverlapping(self.frames, checked);
        }
        copy.depth = depth;
        copy.checked = checked;
        Some(())
    }

    /// Whether the entries' checked lengths never fall from bottom to top and lie within the
    /// frames: the part of layer `ground` that concerns the previous-frame indices.
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

/// A copied [`Entry`].
#[repr(C)]
#[derive(Copy, Clone, Debug)]
struct Copied {
    hook: u32,
    checked: u32,
}

/// A copy of a trace stack, in memory of its own.
#[derive(Debug)]
pub struct StackCopy {
    capacity: usize,
    entries: Reserved<Copied>,
    frames: Reserved<Frame>,
    depth: usize,
    checked: usize,
}

impl StackCopy {
    /// Reserves a copy of at most `capacity` entries and frames.
    pub fn new(capacity: usize) -> io::Result<StackCopy> {
        Ok(StackCopy {
            capacity,
            entries: Reserved::new(capacity)?,
            frames: Reserved::new(capacity)?,
            depth: 0,
            checked: 0,
        })
    }

    /// Forgets what was copied.
    pub fn clear(&mut self) {
        (self.depth, self.checked) = (0, 0);
    }

    /// The hooked frames, bottom first.
    pub fn hooks(&self) -> impl Iterator<Item = HookId> {
        self.entries().iter().map(|entry| hook_of(entry.hook))
    }

    /// How many of the hooked frames lie at or below the newest checked one.
    pub fn checked_entries(&self) -> usize {
        if self.checked == 0 {
            return 0;
        }
        let above = |entry: &&Copied| entry.checked as usize == self.checked;
        // The newest checked entry is the lowest with its length: those above inherit it.
        self.depth + 1 - self.entries().iter().rev().take_while(above).count()
    }

    /// The whole stack up to the newest checked frame, bottom first.
    pub fn checked_frames(&self) -> &[Frame] {
        // SAFETY: `copy_to` wrote so many.
        unsafe { std::slice::from_raw_parts(self.frames.start().as_ptr(), self.checked) }
    }

    /// It as the judges read it; `hooks` must be all of [`Self::hooks`].
    pub fn truth<'a>(&'a self, hooks: &'a [HookId], leaving: &'a [Leaving]) -> Truth<'a> {
        Truth {
            entries: hooks,
            checked: self.checked_frames(),
            checked_entries: self.checked_entries(),
            leaving,
        }
    }

    /// The constructors that an exception may have left: only their frames can end without a
    /// hook. Those below the newest checked frame were still there when that was checked.
    ///
    /// `is_left_by(None, hook)` says whether `hook` is a constructor's, and `is_left_by(Some(of),
    /// hook)` whether it may be one that calls the constructor `of` as `super(...)` or `this(...)`.
    pub fn leaving(&self, is_left_by: impl Fn(Option<HookId>, HookId) -> bool) -> Vec<Leaving> {
        let entries = self.entries();
        let certain = self.checked_entries().saturating_sub(1);
        let marked = (certain..entries.len())
            .rev()
            .filter(|&at| entries[at].hook & LEAVING != 0);
        let run = |at: usize| {
            let mut above = None;
            let left = |entry: &&Copied| {
                is_left_by(above.replace(hook_of(entry.hook)), hook_of(entry.hook))
            };
            let count = entries[..=at].iter().rev().take_while(left).count();
            (count > 0).then_some(Leaving {
                upto: at + 1,
                count,
            })
        };
        let mut newest: Vec<_> = marked.filter_map(run).take(LEFT).collect();
        newest.reverse();
        newest
    }

    fn entries(&self) -> &[Copied] {
        // SAFETY: `copy_to` wrote so many.
        unsafe { std::slice::from_raw_parts(self.entries.start().as_ptr(), self.depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::trace::{Location, MethodKey};
    use proptest::prelude::*;

    fn stack() -> TraceStack {
        TraceStack::new(1 << 16).expect("memory")
    }

    fn copy_of(stack: &TraceStack) -> StackCopy {
        let mut copy = StackCopy::new(1 << 12).expect("memory");
        stack.copy_to(&mut copy).expect("it fits");
        copy
    }

    #[test]
    fn a_missing_pop_is_noticed_and_repaired() {
        let stack = stack();
        let outer = stack.push(HookId(1));
        stack.push(HookId(2));
        assert_eq!(stack.catch(outer), Balance::TooMany(1));
        assert_eq!(stack.pop(outer), Balance::Even);
        assert_eq!(stack.pop(outer), Balance::TooFew);
        assert_eq!(stack.depth(), 0);
    }

    #[test]
    fn an_entry_that_was_popped_too_early_comes_back() {
        let stack = stack();
        let token = stack.push(HookId(5));
        stack.pop(token);
        assert_eq!(stack.catch(token), Balance::TooFew);
        assert_eq!(copy_of(&stack).hooks().collect::<Vec<_>>(), [HookId(5)]);
    }

    #[test]
    fn an_exception_on_its_way_is_known_until_a_hook_has_caught_it() {
        let stack = stack();
        let leaving = || {
            // Of the ids here those from 10 on are constructors, each of the class above.
            let calls = |above: Option<HookId>, hook: HookId| {
                hook.0 >= 10 && above.is_none_or(|above| above.0 == hook.0 + 1)
            };
            let runs = copy_of(&stack).leaving(calls);
            runs.iter()
                .map(|run| (run.upto, run.count))
                .collect::<Vec<_>>()
        };
        let outer = stack.push(HookId(1));
        stack.push(HookId(20));
        stack.push(HookId(10));
        let inner = stack.push(HookId(11));
        let callee = stack.push(HookId(2));
        assert_eq!(leaving(), []);
        stack.pop(callee);
        assert_eq!(leaving(), [], "it returned");
        stack.leave();
        assert_eq!(leaving(), [(4, 2)]);
        stack.push(HookId(2));
        assert_eq!(leaving(), [(4, 2)], "who caught it?");
        stack.record(
            &[Frame {
                method: MethodKey(2),
                location: Location(0),
            }; 5],
        );
        assert_eq!(leaving(), [], "they were seen");
        stack.pop(callee);
        assert_eq!(stack.catch(inner), Balance::Even);
        assert_eq!(leaving(), [], "the innermost");
        stack.leave();
        assert_eq!(stack.pop(outer), Balance::TooMany(3));
        stack.push(HookId(10));
        assert_eq!(leaving(), [], "another frame");
        stack.leave();
        assert_eq!(leaving(), [(1, 1)]);
    }

    #[test]
    fn too_deep_is_counted_and_comes_back() {
        let stack = TraceStack::new(0).expect("memory");
        let tokens: Vec<_> = (0..5000).map(|i| stack.push(HookId(i))).collect();
        assert!(!stack.is_whole());
        let mut copy = StackCopy::new(1 << 13).expect("memory");
        assert!(stack.copy_to(&mut copy).is_none());
        for token in tokens.into_iter().rev() {
            assert_eq!(stack.pop(token), Balance::Even);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u32),
        Pop,
        Check,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![3 => (0..50u32).prop_map(Step::Push), 2 => Just(Step::Pop), 1 => Just(Step::Check)]
    }

    proptest! {
        /// Against a plain model: a list of hooks, and for each whether it was checked with
        /// how many frames. The "whole stack" has one unhooked frame between hooked ones.
        #[test]
        fn behaves_as_its_model(steps in prop::collection::vec(step(), 0..200)) {
            let stack = stack();
            let mut model: Vec<(u32, Token, Option<Vec<Frame>>)> = vec![];
            for (time, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(hook) => model.push((hook, stack.push(HookId(hook)), None)),
                    Step::Pop => if let Some((_, token, _)) = model.pop() {
                        prop_assert_eq!(stack.pop(token), Balance::Even);
                    },
                    Step::Check => if !model.is_empty() {
                        // All but the top keep the location they had when last checked.
                        let known = model.iter().rev().find_map(|m| m.2.clone()).unwrap_or_default();
                        let mut whole = known.clone();
                        for (i, entry) in model.iter().enumerate().skip(known.len() / 2) {
                            let frame = |method, location| Frame { method: MethodKey(method), location: Location(location) };
                            whole.push(frame(1000 + i, time as i32));
                            whole.push(frame(entry.0 as usize, time as i32));
                        }
                        if let Some(moved) = known.len().checked_sub(1) {
                            whole[moved].location = Location(time as i32);
                        }
                        let top_first: Vec<_> = whole.iter().rev().copied().collect();
                        stack.record(&top_first);
                        model.last_mut().expect("not empty").2 = Some(whole);
                    },
                }
                let copy = copy_of(&stack);
                let hooks: Vec<_> = model.iter().map(|m| HookId(m.0)).collect();
                prop_assert_eq!(copy.hooks().collect::<Vec<_>>(), hooks);
                let newest = model.iter().rposition(|m| m.2.is_some());
                prop_assert_eq!(copy.checked_entries(), newest.map_or(0, |i| i + 1));
                let expected = newest.and_then(|i| model[i].2.clone()).unwrap_or_default();
                let (copied, moved) = (copy.checked_frames(), expected.len().saturating_sub(1));
                prop_assert_eq!(copied.len(), expected.len());
                prop_assert_eq!(&copied[..moved], &expected[..moved]);
                prop_assert_eq!(copied.last().map(|f| f.method), expected.last().map(|f| f.method));
                prop_assert!(stack.is_consistent());
            }
        }
    }
}
