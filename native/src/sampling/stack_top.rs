//! The words at the top of an interrupted thread's stack, as its signal handler copies them.

use crate::truth::interrupted::Interrupted;

/// So many words are copied: enough for the return address in most compiled frames.
const WORDS: usize = 64;

/// Words from the stack pointer on.
pub struct StackTop {
    words: [usize; WORDS],
    count: usize,
}

impl StackTop {
    /// No word.
    pub const EMPTY: StackTop = StackTop {
        words: [0; WORDS],
        count: 0,
    };

    /// Copies the words from the stack pointer on, as far as the thread's stack reaches: none if
    /// the stack pointer is not within it.
    pub fn copy(&mut self, thread: Interrupted<'_>) {
        self.count = thread.copy_stack_top(&mut self.words);
    }

    /// The word so far above the stack pointer, if it was copied.
    pub fn word(&self, index: usize) -> Option<usize> {
        self.words[..self.count].get(index).copied()
    }
}
