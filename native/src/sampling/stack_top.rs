//! The words at the top of an interrupted thread's Java stack, as its signal handler copies them.

use crate::jvm::java_thread::ThreadSnapshot;
use crate::truth::interrupted::Interrupted;
use hotspot::layout::entry::Words;

/// The number of words that are looked at, 32 KiB. This is enough for dozens of frames, for the return address
/// in nearly all compiled frames, and mostly for the VM's frames between a JavaCalls entry and its
/// caller.
pub const WORDS: usize = 1 << 12;

/// Words from the stack pointer of the newest Java frame on: the thread's own stack pointer, or
/// that of the anchor if the thread has left Java code.
pub struct StackTop {
    /// The address of the first word.
    start: usize,
    words: [usize; WORDS],
    count: usize,
}

impl StackTop {
    /// No words.
    pub const EMPTY: StackTop = StackTop {
        start: 0,
        words: [0; WORDS],
        count: 0,
    };

    /// Copies the words, as far as the thread's stack reaches. Copies none if the stack pointer is
    /// not within the stack.
    pub fn copy(&mut self, thread: Interrupted<'_>, seen: Option<ThreadSnapshot>) {
        let anchored = seen.filter(|seen| !seen.is_without_pc());
        let from = anchored.map_or(0, |seen| seen.last.sp);
        self.start = from.max(thread.context().registers().sp);
        self.count = thread.copy_stack(from, &mut self.words);
    }

    /// All words that were copied.
    pub fn stack(&self) -> Words<'_> {
        Words {
            start: self.start,
            words: &self.words[..self.count],
        }
    }

    /// The word at this distance from the stack pointer, in words, if it was copied.
    pub fn word(&self, index: usize) -> Option<usize> {
        self.stack().words.get(index).copied()
    }
}
