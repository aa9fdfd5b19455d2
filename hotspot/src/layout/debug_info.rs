//! Debug info of compiled code: the frames that the compiler recorded at each program counter
//! (`share/code/pcDesc.hpp`, `share/code/scopeDesc.cpp`).
//!
//! HotSpot records the inlined frames at calls and polls, not at every instruction. With
//! `-XX:+DebugNonSafepoints` the compilers write more records, each of which is of the instructions before it
//! ([`Around::covering`]).

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

    /// The first address from `pc` on that has a record with frames.
    pub fn next_record(&self, memory: &impl Memory, pc: usize) -> Option<usize> {
        let offset = i32::try_from(pc.wrapping_sub(self.code)).ok()?;
        let around = self.around(memory, offset)?;
        let record = around.exact(offset).or(around.behind)?;
        (record.scope != 0).then(|| self.code.wrapping_add_signed(record.pc_offset as isize))
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

impl DebugTables {
    /// Whether the records of `one` and `other` have the same methods, and the same BCIs below the first.
    pub fn have_same_methods(
        &self,
        memory: &impl Memory,
        compression: Compression,
        one: Record,
        other: Record,
    ) -> Option<bool> {
        /// A limit for the inlining of compilers: `MaxInlineLevel` and method handles.
        const MOST_INLINED: usize = 256;
        let (mut one, mut other) = (one.scope, other.scope);
        for depth in 0..MOST_INLINED {
            if one == other || one == 0 || other == 0 {
                return Some(one == other);
            }
            let scopes = [one, other].map(|scope| self.scope(memory, compression, scope));
            let [Some(of_one), Some(of_other)] = scopes else {
                return None;
            };
            if of_one.method != of_other.method || depth > 0 && of_one.bci != of_other.bci {
                return Some(false);
            }
            (one, other) = (of_one.sender, of_other.sender);
        }
        None
    }
}

impl DebugTables {
    /// The frames that the records of `one` and `other` have in common, from the compiled method's own frame on: their methods
    /// are the same, and so are their BCIs below the first. The record is that of `other` without the frames above.
    pub fn common(
        &self,
        memory: &impl Memory,
        compression: Compression,
        one: Record,
        other: Record,
    ) -> Option<Record> {
        let scope = |scope| self.scope(memory, compression, scope);
        let depth = |record: Record| {
            let (mut at, mut depth) = (record.scope, 0_usize);
            // A chain of scopes ends: senders have smaller numbers.
            while at != 0 {
                (at, depth) = (scope(at)?.sender, depth + 1);
            }
            Some(depth)
        };
        let (of_one, of_other) = (depth(one)?, depth(other)?);
        let above =
            |at: u32, frames: usize| (0..frames).try_fold(at, |at, _| Some(scope(at)?.sender));
        let mut one = above(one.scope, of_one.saturating_sub(of_other))?;
        let mut at = above(other.scope, of_other.saturating_sub(of_one))?;
        let mut common = None;
        while at != 0 && one != 0 {
            let (of_one, of_other) = (scope(one)?, scope(at)?);
            if of_one.method != of_other.method {
                common = None;
            } else if common.is_none() || of_one.bci != of_other.bci {
                common = Some(at);
            }
            (one, at) = (of_one.sender, of_other.sender);
        }
        let pc_offset = other.pc_offset;
        common.map(|scope| Record { pc_offset, scope })
    }
}

impl Around {
    /// The record that the compiler wrote for the instruction here, if it is not at a safepoint, and if the compiler
    /// writes such records. The first of [`Around::behind`] the instruction's first byte is meant.
    ///
    /// Both compilers emit an instruction (C2: a node; C1: an operation of LIR), and then look at what it is of:
    ///
    /// ```text
    /// n->emit(masm, C->regalloc());                          // output.cpp, PhaseOutput::fill_buffer
    /// current_offset = masm->offset();
    /// non_safepoints.observe_instruction(n, current_offset);
    ///
    /// op->emit_code(this);                                   // c1_LIRAssembler.cpp, LIR_Assembler::emit_lir_list
    /// process_debug_info(op);
    /// ```
    ///
    /// While the methods and BCIs stay the same, `_pending_offset` moves on to the end of the last instruction. A record
    /// is written at this offset when another instruction comes. So a record without an oop map is of all instructions
    /// from the previous record up to its own program counter, where they end; the instruction that begins at its
    /// program counter belongs to the next record (`nmethod::pc_desc_near` searches forward, too).
    ///
    /// The record of a call is at its return address, and of a poll at its start. Instructions before such a record are
    /// not certainly of it: `NonSafepointEmitter::observe_safepoint` forgets what is pending at the start of the call or poll,
    /// without a record, if nothing lies between.
    pub fn covering(&self, has_map: impl FnOnce(Record) -> Option<bool>) -> Option<Record> {
        let record = self.behind.filter(|record| record.scope != 0)?;
        (has_map(record) == Some(false)).then_some(record)
    }

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
        fn word(&self, _: usize) -> Option<usize> {
            Some(0x77)
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
    fn an_instruction_belongs_to_the_next_record_unless_that_is_at_a_safepoint() {
        let record = |pc_offset| Record {
            pc_offset,
            scope: 9,
        };
        let around = Around {
            before: Some(record(0x10)),
            behind: Some(record(0x18)),
        };
        // The record that begins at the instruction is of the one before.
        assert_eq!(around.covering(|_| Some(false)), Some(record(0x18)));
        assert_eq!(around.covering(|_| Some(true)), None, "a call or a poll");
        assert_eq!(around.covering(|_| None), None, "the VM shows no oop maps");
        let sentinel = Record {
            pc_offset: i32::MAX,
            scope: 0,
        };
        let last = Around {
            behind: Some(sentinel),
            ..around
        };
        assert_eq!(last.covering(|_| Some(false)), None, "behind all records");
    }

    #[test]
    fn records_with_the_same_methods_may_differ_in_the_first_bci_alone() {
        let tables = DebugTables {
            code: 0,
            pcs: 0,
            pcs_end: 0,
            scopes: 0,
            metadata: 0,
        };
        // Scopes: at 1 and at 4 one method with two BCIs; at 7 and at 10 scopes inlined into them; at 13 one more of the first.
        let bytes = &[0, 0, 1, 5, 0, 1, 9, 1, 1, 3, 4, 1, 3, 1, 1, 8];
        let record = |scope| Record {
            pc_offset: 0,
            scope,
        };
        let same = |one, other| {
            let compression = Compression::of(17);
            tables.have_same_methods(&Bytes(bytes), compression, record(one), record(other))
        };
        assert_eq!(same(1, 4), Some(true), "the first BCI");
        assert_eq!(
            same(7, 13),
            Some(true),
            "the first BCI of an inlined method"
        );
        assert_eq!(same(7, 10), Some(false), "the BCI of the call");
        assert_eq!(same(1, 7), Some(false), "a method is inlined in one");
        let common = |one, other| {
            let compression = Compression::of(17);
            let common = tables.common(&Bytes(bytes), compression, record(one), record(other));
            common.map(|record| record.scope)
        };
        assert_eq!(common(1, 4), Some(4), "the first BCI");
        assert_eq!(
            common(7, 13),
            Some(13),
            "the first BCI of an inlined method"
        );
        assert_eq!(common(7, 10), Some(4), "the BCI of the call");
        assert_eq!(common(7, 1), Some(1), "a method is inlined in one");
        assert_eq!(common(1, 7), Some(1), "a method is inlined in the other");
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
