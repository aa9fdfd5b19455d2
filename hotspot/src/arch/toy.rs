//! Code and a stack for the tests of the simulations.

use crate::memory::Memory;

/// Where the code starts.
pub const CODE: usize = 0x1000;

/// Where the stack starts.
pub const STACK: usize = 0x8000;

/// Code, and a few words of stack.
pub struct Fixed<'a> {
    pub code: &'a [u8],
    pub stack: &'a [usize],
}

impl Memory for Fixed<'_> {
    fn u8(&self, address: usize) -> Option<u8> {
        self.code.get(address.checked_sub(CODE)?).copied()
    }

    fn word(&self, address: usize) -> Option<usize> {
        let at = address.checked_sub(STACK)? / size_of::<usize>();
        self.stack.get(at).copied()
    }
}
