//! Memory of this process as it was at the first look: each page is copied once.
//!
//! A reader of tables makes dozens of reads, most of them of a few pages, and each read of
//! [`OwnMemory`](super::kernel::OwnMemory) is a system call. Not for readers that look again to see a change.

use super::kernel::peek_bytes;
use super::remembered::PAGE;
use hotspot::memory::Memory;
use std::cell::RefCell;

/// Copies of pages.
#[derive(Debug, Default)]
pub struct Pages(RefCell<Vec<(usize, Vec<u8>)>>);

impl Memory for Pages {
    fn u8(&self, address: usize) -> Option<u8> {
        let (start, at) = (address / PAGE * PAGE, address % PAGE);
        let mut pages = self.0.borrow_mut();
        let known = pages.iter().position(|page| page.0 == start);
        let index = known.unwrap_or_else(|| {
            pages.push((start, peek_bytes(start, PAGE)));
            pages.len() - 1
        });
        pages[index].1.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::kernel::OwnMemory;

    #[test]
    fn a_page_is_read_once_and_what_is_not_there_is_refused() {
        let mut here: Vec<u8> = (0..3 * PAGE).map(|n| (n % 251) as u8).collect();
        let start = here.as_ptr().addr();
        let across = (start / PAGE + 1) * PAGE - 3;
        let pages = Pages::default();
        assert_eq!(pages.word(across), OwnMemory.word(across));
        assert_eq!(pages.u32(across), OwnMemory.u32(across));
        assert_eq!(pages.u16(across + 2), OwnMemory.u16(across + 2));
        assert_eq!(pages.code(across), OwnMemory.code(across));
        let before = pages.u8(across);
        here[across - start] ^= 0xff;
        assert_eq!(pages.u8(across), before, "as at the first look");
        assert_ne!(OwnMemory.u8(across), before);
        assert_eq!((pages.word(8), pages.code(8)), (None, [0; 16]));
    }
}
