//! Debug info of compiled code: the frames that the compiler recorded at each program counter
//! (`share/code/pcDesc.hpp`, `share/code/scopeDesc.cpp`).
//!
//! HotSpot records the inlined frames at calls, polls and implicit checks, not at every
//! instruction.

use super::fields::{Fields, Missing};
use super::nmethod::DebugTables;
use crate::memory::Memory;

/// `sizeof(PcDesc)`, since JDK 8: four numbers of four bytes.
const RECORD: usize = 16;

/// A limit that no compiled method reaches.
const MOST_RECORDS: usize = 1 << 22;

/// How the VM compresses numbers (`share/code/compressedStream.hpp`).
#[derive(Copy, Clone, Debug)]
pub struct Compression {
    /// The number that is added to each byte, so that no byte is zero: 0 up to JDK 18, then 1.
    excluded: u32,
}

/// A debug info record.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Record {
    /// Its program counter, relative to the start of the code.
    pub pc_offset: i32,
    /// Its innermost scope; 0 if it has none.
    pub scope: u32,
}

/// The records at an address.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Around {
    /// The last record at or before the address.
    pub before: Option<Record>,
    /// The first record behind the address.
    pub behind: Option<Record>,
}

/// One frame of a record.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// The VM's address of the method.
    pub method: usize,
    /// Its BCI; -1 where the record stands for none.
    pub bci: i32,
    /// The scope into which it is inlined; 0 if it is the compiled method's own scope.
    pub sender: u32,
}

/// Whether this VM's records are those that are known.
pub fn check_records(fields: &impl Fields) -> Result<(), Missing> {
    let found = fields.size("PcDesc")?;
    if found == RECORD {
        Ok(())
    } else {
        Err(Missing::Size {
            name: "PcDesc",
            found,
            known: RECORD,
        })
    }
}

impl Compression {
    /// The compression of a VM of this feature release.
    pub fn of(feature: u32) -> Compression {
        Compression {
            excluded: u32::from(feature >= 19),
        }
    }

    /// Reads a number of one to five bytes, and moves `at` behind it. A byte above the limit says
    /// that another byte follows, with a weight that is 64 times higher.
    fn read(self, memory: &impl Memory, at: &mut usize) -> Option<u32> {
        let limit = 192 - self.excluded;
        let mut sum = 0_u32;
        for i in 0..5 {
            let byte = memory.u8(*at)?;
            *at = at.wrapping_add(1);
            let digit = u32::from(byte).checked_sub(self.excluded)?;
            sum = sum.wrapping_add(digit.wrapping_shl(6 * i));
            if digit < limit {
                break;
            }
        }
        Some(sum)
    }
}

impl DebugTables {
    /// The records around the instruction at `pc_offset`.
    pub fn around(&self, memory: &impl Memory, pc_offset: i32) -> Option<Around> {
        let count = self.pcs_end.checked_sub(self.pcs)? / RECORD;
        // The search ends behind the last record at or before the address. Records are sorted by
        // address.
        let (mut low, mut high) = (0, count.min(MOST_RECORDS));
        while low < high {
            let middle = low.midpoint(high);
            if memory.i32(self.place(middle))? <= pc_offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let before = match low.checked_sub(1) {
            Some(at) => Some(self.record(memory, at)?),
            None => None,
        };
        let behind = if low < count {
            Some(self.record(memory, low)?)
        } else {
            None
        };
        Some(Around { before, behind })
    }

    fn place(&self, at: usize) -> usize {
        self.pcs.wrapping_add(at.wrapping_mul(RECORD))
    }

    fn record(&self, memory: &impl Memory, at: usize) -> Option<Record> {
        let place = self.place(at);
        Some(Record {
            pc_offset: memory.i32(place)?,
            scope: memory.u32(place.wrapping_add(4))?,
        })
    }

    /// The scope at `scope`, which is not 0.
    pub fn scope(
        &self,
        memory: &impl Memory,
        compression: Compression,
        scope: u32,
    ) -> Option<Scope> {
        let mut at = self.scopes.wrapping_add(scope as usize);
        let sender = compression.read(memory, &mut at)?;
        let method = compression.read(memory, &mut at)?;
        let bci = compression
            .read(memory, &mut at)?
            .cast_signed()
            .wrapping_sub(1);
        let index = method.checked_sub(1)? as usize;
        let method = memory.word(self.metadata.wrapping_add(index.wrapping_mul(8)))?;
        // Outer scopes are written before inner scopes, so a chain of scopes ends.
        (sender < scope).then_some(Scope {
            method,
            bci,
            sender,
        })
    }
}

impl Around {
    /// The record at `pc_offset` exactly, if there is one.
    pub fn exact(&self, pc_offset: i32) -> Option<Record> {
        self.before.filter(|record| record.pc_offset == pc_offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(&'static [u8]);

    impl Memory for Bytes {
        fn u8(&self, address: usize) -> Option<u8> {
            self.0.get(address).copied()
        }
        fn u16(&self, _: usize) -> Option<u16> {
            None
        }
        fn u32(&self, _: usize) -> Option<u32> {
            None
        }
        fn word(&self, _: usize) -> Option<usize> {
            Some(0x77)
        }
        fn code(&self, _: usize) -> [u8; 16] {
            [0; 16]
        }
    }

    fn read(feature: u32, bytes: &'static [u8]) -> Option<(u32, usize)> {
        let mut at = 0;
        let value = Compression::of(feature).read(&Bytes(bytes), &mut at)?;
        Some((value, at))
    }

    #[test]
    fn integers_are_read_as_the_vm_writes_them() {
        // The values are those in the comments of HotSpot's own tests of both formats.
        assert_eq!(read(17, &[0]), Some((0, 1)));
        assert_eq!(read(17, &[191]), Some((191, 1)));
        assert_eq!(read(17, &[192, 0]), Some((192, 2)));
        assert_eq!(read(17, &[193, 1]), Some((257, 2)));
        assert_eq!(read(21, &[1]), Some((0, 1)));
        assert_eq!(read(21, &[191]), Some((190, 1)));
        assert_eq!(read(21, &[192, 1]), Some((191, 2)));
        assert_eq!(read(21, &[0]), None);
        assert_eq!(read(17, &[192]), None, "the second byte is missing");
    }

    #[test]
    fn a_scope_is_three_integers() {
        let tables = DebugTables {
            code: 0,
            pcs: 0,
            pcs_end: 0,
            scopes: 0,
            metadata: 0,
        };
        let scope = |bytes| tables.scope(&Bytes(bytes), Compression::of(17), 1);
        let expected = Scope {
            method: 0x77,
            bci: 26,
            sender: 0,
        };
        assert_eq!(scope(&[9, 0, 3, 27, 99]), Some(expected));
        assert_eq!(scope(&[9, 0, 3]), None);
        assert_eq!(scope(&[9, 1, 3, 27]), None, "an endless chain");
    }
}
