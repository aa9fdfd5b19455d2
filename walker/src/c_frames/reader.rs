//! Numbers in the formats of unwind tables.

use hotspot::memory::Memory;

/// Reads forward from an address.
pub struct Reader<'a, M> {
    memory: &'a M,
    /// The address of the next read.
    pub at: usize,
}

impl<'a, M: Memory> Reader<'a, M> {
    pub fn new(memory: &'a M, at: usize) -> Reader<'a, M> {
        Reader { memory, at }
    }

    pub fn skip(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    pub fn u8(&mut self) -> Option<u8> {
        let value = self.memory.u8(self.at)?;
        self.skip(1);
        Some(value)
    }

    pub fn u16(&mut self) -> Option<u16> {
        let value = self.memory.u16(self.at)?;
        self.skip(2);
        Some(value)
    }

    pub fn u32(&mut self) -> Option<u32> {
        let value = self.memory.u32(self.at)?;
        self.skip(4);
        Some(value)
    }

    pub fn word(&mut self) -> Option<usize> {
        let value = self.memory.word(self.at)?;
        self.skip(8);
        Some(value)
    }

    /// An unsigned number with seven bits in each byte.
    pub fn uleb(&mut self) -> Option<usize> {
        let mut sum = 0_usize;
        for shift in (0..70).step_by(7) {
            let byte = self.u8()?;
            sum |= usize::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(sum);
            }
        }
        None
    }

    /// A signed number with seven bits in each byte.
    pub fn sleb(&mut self) -> Option<isize> {
        let start = self.at;
        let sum = self.uleb()?.cast_signed();
        let bits = u32::try_from(self.at.wrapping_sub(start).wrapping_mul(7)).ok()?;
        match 64_u32.checked_sub(bits) {
            Some(free) if free > 0 => Some((sum << free) >> free),
            _ => Some(sum),
        }
    }

    /// A pointer in one of the usual encodings (`DW_EH_PE_…`): a number of some size, absolute or
    /// relative to its own place.
    pub fn pointer(&mut self, encoding: u8) -> Option<usize> {
        let place = self.at;
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.word()?,
            0x02 => self.u16()?.into(),
            0x03 => self.u32()? as usize,
            0x0a => self.u16()?.cast_signed() as usize,
            0x0b => self.u32()?.cast_signed() as usize,
            _ => return None,
        };
        match encoding & 0x70 {
            0x00 => Some(value),
            0x10 => Some(place.wrapping_add(value)),
            _ => None,
        }
    }
}
