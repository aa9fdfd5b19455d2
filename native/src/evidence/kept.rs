//! Memory as it was at an interruption.

use hotspot::layout::entry::Words;
use hotspot::memory::Memory;
use std::ops::Range;
use vm::memory::pages::Pages;

const WORD: usize = size_of::<usize>();

/// The memory at the interruption: the words of the stack that were copied then, and the code, which does not change. The
/// rest of the stack may be another one by now.
pub(super) struct Kept<'a> {
    pub stack: Words<'a>,
    pub code: Range<usize>,
    /// Up to a thousand instructions are followed, so a page of the code is read once.
    pub pages: &'a Pages,
}

impl Memory for Kept<'_> {
    fn u8(&self, address: usize) -> Option<u8> {
        if self.code.contains(&address) {
            return self.pages.u8(address);
        }
        let word = self.stack.at(address - address % WORD)?;
        word.to_ne_bytes().get(address % WORD).copied()
    }

    fn code(&self, address: usize) -> [u8; 16] {
        if self.code.contains(&address) {
            self.pages.code(address)
        } else {
            [0; 16]
        }
    }
}
