//! Access to memory for the readers of HotSpot's structures. The owner of the memory implements the
//! trait.

/// Memory of a process, at its own addresses. Who can read more than a byte at once implements more than one function.
pub trait Memory {
    /// The byte at `address`; `None` if it cannot be read.
    fn u8(&self, address: usize) -> Option<u8>;

    /// The two bytes at `address`.
    fn u16(&self, address: usize) -> Option<u16> {
        bytes(self, address).map(u16::from_ne_bytes)
    }

    /// The four bytes at `address`.
    fn u32(&self, address: usize) -> Option<u32> {
        bytes(self, address).map(u32::from_ne_bytes)
    }

    /// The eight bytes at `address`.
    fn word(&self, address: usize) -> Option<usize> {
        bytes(self, address).map(usize::from_ne_bytes)
    }

    /// The sixteen bytes at `address`. The first byte that cannot be read, and all bytes behind,
    /// are 0.
    fn code(&self, address: usize) -> [u8; 16] {
        let mut code = [0; 16];
        for (at, to) in code.iter_mut().enumerate() {
            let byte = address.checked_add(at).and_then(|at| self.u8(at));
            let Some(byte) = byte else { break };
            *to = byte;
        }
        code
    }

    /// The four bytes at `address` as a number with a sign.
    fn i32(&self, address: usize) -> Option<i32> {
        Some(self.u32(address)?.cast_signed())
    }
}

/// So many bytes at `address`, one by one.
fn bytes<const N: usize>(memory: &(impl Memory + ?Sized), address: usize) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = memory.u8(address.checked_add(at)?)?;
    }
    Some(bytes)
}

/// Memory for tests.
#[cfg(test)]
pub(crate) mod toy {
    use super::Memory;
    use std::collections::HashMap;

    /// Words by their addresses.
    pub struct Words(pub HashMap<usize, usize>);

    impl Memory for Words {
        fn u8(&self, address: usize) -> Option<u8> {
            self.0.get(&address).map(|&word| word as u8)
        }
        fn u32(&self, address: usize) -> Option<u32> {
            self.0.get(&address).map(|&word| word as u32)
        }
        fn word(&self, address: usize) -> Option<usize> {
            self.0.get(&address).copied()
        }
    }
}
