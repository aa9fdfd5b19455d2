//! The words at the top of an interrupted thread's stack, as its signal handler copies them.

use std::ops::Range;
use std::ptr;

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

    /// Copies the words from `sp` on, as far as `stack` reaches: none if `sp` is not within it.
    /// Async-signal-safe.
    ///
    /// # Safety
    /// `stack` must be the calling thread's, and hold nothing at or above `sp` that cannot be
    /// read, if `sp` lies in it: that of the code which a signal handler of the thread interrupted.
    pub unsafe fn copy(&mut self, sp: usize, stack: &Range<usize>) {
        const WORD: usize = size_of::<usize>();
        self.count = 0;
        if !stack.contains(&sp) || !sp.is_multiple_of(WORD) {
            return;
        }
        self.count = ((stack.end - sp) / WORD).min(WORDS);
        let from = sp as *const usize;
        // SAFETY: so many words are there, as the caller promised, and `words` has room for them.
        unsafe { ptr::copy_nonoverlapping(from, self.words.as_mut_ptr(), self.count) }
    }

    /// The word so far above the stack pointer, if it was copied.
    pub fn word(&self, index: usize) -> Option<usize> {
        self.words[..self.count].get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_words_up_to_the_end_of_the_stack() {
        let memory: Vec<usize> = (0..100).collect();
        let start = memory.as_ptr() as usize;
        let stack = start..start + 100 * 8;
        let mut top = StackTop::EMPTY;
        let mut copy = |sp, stack: &Range<usize>| {
            // SAFETY: `stack` is within `memory`, all of which can be read.
            unsafe { top.copy(sp, stack) }
            let words = (0..).map_while(|at| top.word(at));
            words.collect::<Vec<_>>()
        };
        assert_eq!(copy(start + 3 * 8, &stack), (3..67).collect::<Vec<_>>());
        assert_eq!(copy(start + 98 * 8, &stack), [98, 99]);
        assert_eq!(copy(start, &(start..start + 15)), [0]);
        for elsewhere in [stack.end, start - 8, start + 1, 0, usize::MAX] {
            assert!(copy(elsewhere, &stack).is_empty(), "{elsewhere:#x}");
        }
    }
}
