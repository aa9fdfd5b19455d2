//! Copies of trace stacks, which signal handlers make.

use super::head::{Entry, LEAVING, hook_of};
use crate::jvm::os::memory::Reserved;
use oracle::trace::{Frame, HookId, Leaving, TraceSnapshot};
use std::io;
use std::ptr::NonNull;

/// How many exceptions that left constructors are looked at in a stack. Older exceptions were
/// caught by code without hooks, or there would be no newer ones.
const LEFT: usize = 3;

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

    /// How many entries and frames fit into the copy.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Copies entries, and the frames that belong to the newest checked frame. Each has an address
    /// and a count.
    ///
    /// # Safety
    /// This many must be readable at both addresses, and no thread may write to them meanwhile.
    /// Both counts must be within the capacity.
    pub(super) unsafe fn fill(
        &mut self,
        (entries, depth): (NonNull<Entry>, usize),
        (frames, checked): (NonNull<Frame>, usize),
    ) {
        // SAFETY: as the caller promised; this memory is nobody else's, so nothing overlaps. A
        // copied entry is laid out as an entry.
        unsafe {
            let entries = entries.cast::<Copied>();
            let own = self.entries.start();
            own.copy_from_nonoverlapping(entries, depth);
            let own = self.frames.start();
            own.copy_from_nonoverlapping(frames, checked);
        }
        (self.depth, self.checked) = (depth, checked);
    }

    /// Empties the copy.
    pub fn clear(&mut self) {
        (self.depth, self.checked) = (0, 0);
    }

    /// Whether the copied stack has no entry.
    pub fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// The hooked frames, bottom first.
    pub fn hooks(&self) -> impl Iterator<Item = HookId> {
        self.entries().iter().map(|entry| hook_of(entry.hook))
    }

    /// How many of the hooked frames are at or below the newest checked frame.
    pub fn checked_entries(&self) -> usize {
        if self.checked == 0 {
            return 0;
        }
        let above = |entry: &&Copied| entry.checked as usize == self.checked;
        // The newest checked entry is the lowest entry with its length, because the entries above
        // inherit the length.
        self.depth + 1 - self.entries().iter().rev().take_while(above).count()
    }

    /// The whole stack up to the newest checked frame, bottom first.
    pub fn checked_frames(&self) -> &[Frame] {
        // SAFETY: `copy_to` wrote so many.
        unsafe { std::slice::from_raw_parts(self.frames.start().as_ptr(), self.checked) }
    }

    /// The frames of the newest checked entry that has at most `frames` of them, bottom first, and how
    /// many of the hooked frames lie at or below that entry's.
    pub fn checked_within(&self, frames: usize) -> (&[Frame], usize) {
        let entries = self.entries();
        let newest = entries
            .iter()
            .rfind(|entry| entry.checked as usize <= frames);
        match newest.map(|entry| entry.checked) {
            None | Some(0) => (&[], 0),
            Some(checked) => {
                let lower = entries.partition_point(|entry| entry.checked < checked);
                (&self.checked_frames()[..checked as usize], lower + 1)
            }
        }
    }

    /// The truth of the copied stack for judges. `hooks` must be all of [`Self::hooks`].
    pub fn truth<'a>(&'a self, hooks: &'a [HookId], leaving: &'a [Leaving]) -> TraceSnapshot<'a> {
        TraceSnapshot {
            entries: hooks,
            checked: self.checked_frames(),
            checked_entries: self.checked_entries(),
            leaving,
        }
    }

    /// The constructors that an exception may have left: only their frames can end without a hook.
    /// Constructors below the newest checked frame were still active when that frame was checked.
    ///
    /// `is_left_by(None, hook)` says whether `hook` is the hook of a constructor, and
    /// `is_left_by(Some(of), hook)` whether this constructor may call the constructor `of` as
    /// `super(...)` or `this(...)`.
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
