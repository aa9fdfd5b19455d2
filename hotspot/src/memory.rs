//! Access to memory for the readers of HotSpot's structures. The owner of the memory implements the
//! trait.

/// Memory of a process, at its own addresses.
pub trait Memory {
    /// The byte at `address`; `None` if it cannot be read.
    fn u8(&self, address: usize) -> Option<u8>;
    /// The two bytes at `address`.
    fn u16(&self, address: usize) -> Option<u16>;
    /// The four bytes at `address`.
    fn u32(&self, address: usize) -> Option<u32>;
    /// The eight bytes at `address`.
    fn word(&self, address: usize) -> Option<usize>;
    /// The sixteen bytes at `address`. The first byte that cannot be read, and all bytes behind,
    /// are 0.
    fn code(&self, address: usize) -> [u8; 16];

    /// The four bytes at `address` as a number with a sign.
    fn i32(&self, address: usize) -> Option<i32> {
        Some(self.u32(address)?.cast_signed())
    }
}

/// Memory for tests.
#[cfg(test)]
pub(crate) mod toy {
    use super::Memory;
    use std::collections::HashMap;

    /// Words by their addresses.
    pub struct Words(pub HashMap<usize, usize>);

    impl Memory for Words {
        fn u8(&self, _: usize) -> Option<u8> {
            None
        }
        fn u16(&self, _: usize) -> Option<u16> {
            None
        }
        fn u32(&self, address: usize) -> Option<u32> {
            self.0.get(&address).map(|&word| word as u32)
        }
        fn word(&self, address: usize) -> Option<usize> {
            self.0.get(&address).copied()
        }
        fn code(&self, _: usize) -> [u8; 16] {
            [0; 16]
        }
    }
}
