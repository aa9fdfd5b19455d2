//! Which methods are inlined at an instruction in the body of compiled code.
//!
//! A record between safepoints is of the instructions *before* it, up to its program counter, because the compilers note where the last
//! instruction with the same methods and BCIs ended (`NonSafepointEmitter` in `output.cpp`, `process_debug_info` in
//! `c1_LIRAssembler.cpp`). Only records of safepoints have an oop map, so no flag of the VM has to be read, and code that was compiled before the flag
//! was on is recognised. Of these rows the first that fits counts:
//!
//! | between safepoints | frames | flags |
//! | --- | --- | --- |
//! | C2: the code runs to a record without an oop map, and the record before has the same methods | those of the record | – |
//! | C1 at tier 3: the next record has no oop map, and the record before has the same methods; or it is the first record, and the code runs to it | those of the record | `ASGST_FRAME_NO_BCI` on top |
//! | the next record has no oop map, the record before has the same methods, the code runs from one to the other, and the bytecode between them calls nothing | those of the records | `ASGST_FRAME_NO_BCI` on top |
//! | C2: the code returns before the next record, it runs straight from the record before, and one of the two has no oop map; the record before is of the compiled method alone | those of the record before | `ASGST_FRAME_NO_BCI` on top |
//! | C2: as the row above, but the code jumps, or the record before has inlined methods | those of the record before | `ASGST_FRAME_LIKELY` |
//! | C2: no record runs to the instruction, and the code jumps back behind an instruction with a record without an oop map, as slow paths do | those of this record | `ASGST_FRAME_LIKELY` |
//! | the code runs to the next record without a call, and this record or the one before has no oop map | those of the next record | `ASGST_FRAME_LIKELY` |
//! | the bytecode of the compiled method calls nothing | the method | `ASGST_FRAME_NO_BCI` |
//! | with the option `ASGST_GUESS_INLINED`: the records on both sides have inlined methods in common | those in common | `ASGST_FRAME_LIKELY`; on top `ASGST_FRAME_NO_BCI` and `ASGST_FRAME_MAY_MISS_INLINED`, too |
//! | all else | the compiled method | `ASGST_FRAME_NO_BCI` and `ASGST_FRAME_MAY_MISS_INLINED` |
//!
//! - "The code runs to" means that no jump that always jumps is in between. Slow paths of locks, allocations and barriers have
//!   no record of their own; most stand at the end of the code and jump back.
//! - C2 moves instructions, so frames are only likely where the methods change from one record to the next. Before a call or a
//!   poll the record proves nothing: C2 forgets the last instructions before it (`observe_safepoint`).
//! - In C1, instructions without a state (arithmetic, for example) have no record, so a method that consists of them can be
//!   inlined between two records of its caller. At tier 3 the counter of the call has a record.
//! - Most likely frames are at places where C2's records change from one method to another, and no rule was found that says which
//!   of them are true (`docs/results/walker.md`). The layers judge a walk without its likely frames.

use crate::layout::certainty::Certainty;
use crate::layout::code_cache::Blob;
use crate::walk::frame::{Failure, Frame};
use crate::walk::interrupted::Stands;
use crate::walk::return_address::{is_behind_call, is_behind_call_of_vm, is_leaf_call};
use crate::walk::{Walk, Yield};
use hotspot::arch::{Effect, Follow, Native};
use hotspot::layout::debug_info::{Around, Record};
use hotspot::layout::method::Method;
use hotspot::layout::nmethod::{DebugTables, Nmethod};
use hotspot::memory::Memory;

/// Tiers: `CompLevel_full_optimization` and `CompLevel_full_profile` (`share/compiler/compilerDefinitions.hpp`).
const C2: i8 = 4;
const C1_WITH_COUNTERS: i8 = 3;

/// An instruction in the body of compiled code.
pub(super) struct Instruction {
    pub nmethod: Nmethod,
    pub tables: DebugTables,
    /// The tier of the code.
    pub level: i8,
    pub pc: usize,
    pub stands: Stands,
}

/// What the debug info has of an instruction.
pub(super) enum Found {
    /// It is at a safepoint, with a record of its own.
    Own(Record),
    /// It is between safepoints.
    Between(Between),
}

/// What is known of an instruction between safepoints.
pub(super) struct Between {
    /// The record that has its frames; if there is none, only the compiled method itself is known.
    pub record: Option<Record>,
    /// How much is known of the frames.
    pub certainty: Certainty,
}

/// Code that runs straight on.
pub(super) struct Way {
    /// Whether a call is in it, without a record.
    pub calls: bool,
}

impl Instruction {
    /// Its distance from the start of the code, in which records are sorted.
    fn offset(&self) -> Option<i32> {
        self.offset_of(self.pc)
    }

    pub(super) fn offset_of(&self, address: usize) -> Option<i32> {
        i32::try_from(address.wrapping_sub(self.tables.code)).ok()
    }

    /// The records of the code around an address.
    pub(super) fn around(&self, memory: &impl Memory, address: usize) -> Option<Around> {
        self.tables.around(memory, self.offset_of(address)?)
    }

    pub(super) fn address_of(&self, record: Record) -> usize {
        self.tables
            .code
            .wrapping_add_signed(record.pc_offset as isize)
    }
}

impl Walk<'_> {
    /// The frames of the instruction at the pc of `frame`, which is the physical frame.
    pub(super) fn frames_at(
        &self,
        nmethod: Nmethod,
        blob: &Blob,
        frame: Frame,
        stands: Stands,
    ) -> Result<Yield, Failure> {
        let tables = nmethod
            .debug_tables(self.vm.code_cache.nmethods(), &self.memory)
            .ok_or(Failure::Torn)?;
        if tables.code != blob.code {
            return Err(Failure::Torn);
        }
        let instruction = Instruction {
            nmethod,
            tables,
            level: frame.level,
            pc: frame.pc,
            stands,
        };
        let found = self.found_at(&instruction).ok_or(Failure::Torn)?;
        let (record, certainty) = match found {
            Found::Own(record) => (Some(record), Certainty::Full),
            Found::Between(between) if between.certainty == Certainty::Guessed && !self.guesses => {
                (None, Certainty::MethodAlone)
            }
            Found::Between(between) => (between.record, between.certainty),
        };
        let frame = Frame { certainty, ..frame };
        Ok(match record {
            Some(record) => Yield::Record(self.inlined(nmethod, &tables, record, frame)?),
            None => Yield::Frame(frame),
        })
    }

    /// What the debug info has of the instruction.
    pub(super) fn found_at(&self, instruction: &Instruction) -> Option<Found> {
        // A method that calls no method has none inlined, whatever the records say.
        let is_alone = || {
            let compiled = self.method_of(instruction.nmethod).ok()?;
            let known = self.vm.methods.known(&self.memory, compiled)?;
            Some(!self.vm.methods.bytecode(&known).calls(&self.memory)?)
        };
        let alone = Found::Between(Between {
            record: None,
            certainty: Certainty::WithoutBci,
        });
        if let Some((record, certainty)) = self.covering(instruction) {
            if certainty == Certainty::Likely && is_alone() == Some(true) {
                return Some(alone);
            }
            return Some(Found::Between(Between {
                record: Some(record),
                certainty,
            }));
        }
        let offset = instruction.offset()?;
        let exact = instruction
            .tables
            .around(&self.memory, offset)?
            .exact(offset)
            .filter(|record| record.scope != 0);
        // The record may be of the call that ends here, or of the instruction that begins here.
        let is_of_other = |record: &Record| match instruction.stands {
            // Without an oop map it is of the instruction before.
            Stands::At => {
                self.has_map(instruction, *record) == Some(false)
                    || is_behind_call_of_vm(self.vm, &self.memory, instruction.pc)
            }
            Stands::Behind => is_leaf_call(self.vm, &self.memory, instruction.pc),
        };
        if let Some(record) = exact.filter(|record| !is_of_other(record)) {
            return Some(Found::Own(record));
        }
        Some(if is_alone() == Some(true) {
            alone
        } else {
            Found::Between(self.guessed(instruction, offset))
        })
    }

    /// The best guess at the frames of an instruction that no record has: those that the records on both sides have in common,
    /// if they are more than the compiled method itself.
    fn guessed(&self, instruction: &Instruction, offset: i32) -> Between {
        let record = || {
            let (tables, compression) = (&instruction.tables, self.vm.compression);
            let around = tables.around(&self.memory, offset)?;
            let has_scope = |record: &Record| record.scope != 0;
            let (before, next) = (
                around.before.filter(has_scope)?,
                around.behind.filter(has_scope)?,
            );
            let common = tables.common(&self.memory, compression, before, next)?;
            let scope = tables.scope(&self.memory, compression, common.scope)?;
            (scope.sender != 0).then_some(common)
        };
        match record() {
            Some(record) => Between {
                record: Some(record),
                certainty: Certainty::Guessed,
            },
            None => Between {
                record: None,
                certainty: Certainty::MethodAlone,
            },
        }
    }

    /// The record that has the frames of an instruction that is no safepoint, if they are certain.
    fn covering(&self, instruction: &Instruction) -> Option<(Record, Certainty)> {
        let tables = &instruction.tables;
        let offset = instruction.offset()?;
        // The last byte of a call that is under way, or the first of an instruction that runs next.
        let byte = match instruction.stands {
            Stands::At => offset,
            Stands::Behind => offset.checked_sub(1)?,
        };
        let around = tables.around(&self.memory, byte)?;
        if self.begins_poll(instruction, &around, byte) {
            return None;
        }
        let before = around.before.filter(|record| record.scope != 0);
        let jumps = |next: Record| {
            let is_met = instruction.level == C2 && instruction.stands == Stands::At;
            is_met.then(|| self.before_jump(instruction, before, next))?
        };
        let Some(next) = around.behind.filter(|record| record.scope != 0) else {
            return jumps(around.behind?);
        };
        let same = before.filter(|&before| {
            tables.have_same_methods(&self.memory, self.vm.compression, before, next) == Some(true)
        });
        let covering = around.covering(|record| self.has_map(instruction, record));
        let way = self.way(instruction.pc, instruction.address_of(next));
        if way.is_none()
            && let Some(found) = jumps(next)
        {
            return Some(found);
        }
        // The compiler has written the record for the instructions that end at it. C2 moves instructions: one of the caller may
        // run before the last store of an inlined method. So the frames are certain only where the record before has the same
        // methods.
        if covering.is_some() && instruction.level == C2 && same.is_some() && way.is_some() {
            return Some((next, Certainty::Full));
        }
        // An instruction of C1 may have no state, and then no record (`process_debug_info` returns at a null `vstack`):
        // arithmetic, for example. A method of such instructions alone, inlined between two records, is seen where the
        // counter of its calls is incremented: `GraphBuilder::try_inline_full` appends a ProfileInvoke at tier 3.
        let is_counted = covering.is_some() && instruction.level == C1_WITH_COUNTERS;
        // Before the first record nothing is of an inlined method, if the record is of the compiled method alone: the counter of
        // an inlined call comes first.
        let is_first = before.is_none()
            && tables
                .scope(&self.memory, self.vm.compression, next.scope)?
                .sender
                == 0;
        if is_counted && is_first && way.is_some() {
            return Some((next, Certainty::WithoutBci));
        }
        let is_certain = same.is_some_and(|before| {
            let [start, end] = [before, next].map(|record| instruction.address_of(record));
            is_counted
                || covering.is_some()
                    && self.nothing_is_called(instruction, before, next) == Some(true)
                    && !is_behind_call_of_vm(self.vm, &self.memory, start)
                    && self.way(start, end).is_some()
        });
        if is_certain {
            return Some((next, Certainty::WithoutBci));
        }
        // Some instructions are of no bytecode, and the emitters pass over them (`node_notes_at` is null, or `op->source()`):
        // those of macro expansion, for example the slow paths of locks, allocations and barriers. Many stand at the end of the
        // code and jump back, so they do not run to the record that follows there, which is of other code. Others call a
        // function of the VM on the way.
        let runs = way.is_some_and(|way| !way.calls) && instruction.stands == Stands::At;
        // If the next record is of a call or a poll, the compiler has met one more set of methods at most since a record without
        // a safepoint: those of the call or poll itself, or others whose last instruction ends where it begins. Those are
        // forgotten (`observe_safepoint`: `_pending_offset < pc_offset` is false).
        let is_recorded =
            || before.is_some_and(|before| self.has_map(instruction, before) == Some(false));
        (runs && (covering.is_some() || is_recorded())).then_some((next, Certainty::Likely))
    }

    /// Whether a poll begins at the instruction: its record is at its start.
    fn begins_poll(&self, instruction: &Instruction, around: &Around, byte: i32) -> bool {
        let begins = |record: Record| {
            record.pc_offset == byte
                && self.has_map(instruction, record) == Some(true)
                && !is_behind_call(&self.memory, instruction.address_of(record))
        };
        around.before.is_some_and(begins)
    }

    /// Whether the bytecode from one record to another of the same methods calls nothing, so that no other method can be
    /// inlined there.
    fn nothing_is_called(
        &self,
        instruction: &Instruction,
        from: Record,
        to: Record,
    ) -> Option<bool> {
        let memory = &self.memory;
        let scope = |record: Record| {
            let scope = instruction
                .tables
                .scope(memory, self.vm.compression, record.scope)?;
            // At the entry of a synchronized method the BCI is -1.
            Some((scope.method, u16::try_from(scope.bci.max(0)).ok()?))
        };
        let ((method, first), (_, last)) = (scope(from)?, scope(to)?);
        let known = self.vm.methods.known(memory, Method(method))?;
        let bytecode = self.vm.methods.bytecode(&known);
        if !bytecode.calls(memory)? {
            return Some(true);
        }
        // Behind a call the bytecode goes on at the next instruction. The call itself is one byte at least.
        let is_call = self.has_map(instruction, from)?
            && is_behind_call(memory, instruction.address_of(from));
        let first = first.checked_add(is_call.into())?;
        let does = bytecode.does(memory, first..last)?;
        Some(first <= last && !does.calls && !does.leaves)
    }

    /// The code from one address to another, if it runs from there to there: no jump that always jumps is in between.
    pub(super) fn way(&self, from: usize, to: usize) -> Option<Way> {
        const STEPS: usize = 64;
        let (mut at, mut calls) = (from, false);
        for _ in 0..STEPS {
            if at >= to {
                return (at == to).then_some(Way { calls });
            }
            let instruction = Native::decode(&self.memory.code(at))?;
            at = at.wrapping_add(instruction.length);
            match instruction.effect {
                // A call that ends there is that of the record.
                Effect::Call if at < to => calls = true,
                Effect::Jump(_)
                | Effect::JumpRegister(_)
                | Effect::JumpMemory
                | Effect::Return
                | Effect::Trap
                    if at < to =>
                {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the code may stop for the collector where `record` is; `None` if this is not known.
    pub(super) fn has_map(&self, instruction: &Instruction, record: Record) -> Option<bool> {
        let cache = &self.vm.code_cache;
        cache.has_map(&self.memory, instruction.nmethod, record.pc_offset)
    }
}
