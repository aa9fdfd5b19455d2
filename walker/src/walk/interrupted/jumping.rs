//! Which methods are inlined at an instruction of C2 from which the code does not run to the next debug info record, but jumps:
//! the end of a block, or a slow path.

use super::inlining::Instruction;
use crate::layout::certainty::Certainty;
use crate::walk::Walk;
use hotspot::arch::{Effect, Follow, Native};
use hotspot::layout::debug_info::Record;
use hotspot::memory::Memory;

/// The end of code that runs straight on.
struct End {
    /// Where a direct jump leads; `None` of a `ret`.
    target: Option<usize>,
    /// Whether a call is on the way, without a record.
    calls: bool,
}

impl Walk<'_> {
    /// The frames of an instruction of C2 from which the code does not run straight to the next record, but jumps. `before` is the
    /// last record, and `next` the first behind.
    pub(super) fn before_jump(
        &self,
        instruction: &Instruction,
        before: Option<Record>,
        next: Record,
    ) -> Option<(Record, Certainty)> {
        let is_recorded = |record: &Record| self.has_map(instruction, *record) == Some(false);
        let has_scope = |record: &Record| record.scope != 0;
        let end = self.end(instruction)?;
        let runs_here = |before: &Record| {
            let start = instruction.address_of(*before);
            self.way(start, instruction.pc).is_some()
        };
        let Some(before) = before.filter(runs_here) else {
            // A slow path: most stand at the end of the code (`C2CodeStub`), and jump back to the end of the node that they are
            // a part of. So the record of the byte before is that of the node.
            let node = instruction.around(&self.memory, end.target?.wrapping_sub(1))?;
            let node = node.behind.filter(has_scope).filter(is_recorded);
            return node.map(|node| (node, Certainty::Likely));
        };
        // A jump at the end of a block is of no bytecode, and so is all between the last record and the jump: what has one is
        // pending, and has got its record at the next instruction of another (`observe_instruction`), because the jump lies
        // between (`_pending_offset < pc_offset`).
        //
        //         mov  …                 of before
        //         vzeroupper             of none: moves, spills
        //         jmp  there             of none
        //         …
        //     there:
        //         mov  …                 of ahead
        //
        // So where the records on both sides have the same methods, no other is active between. Before a call or a poll there
        // may be instructions of another, which are forgotten (`observe_safepoint`). A `ret` is of the compiled method alone.
        let (is_same, is_known) = match end.target {
            Some(target) => {
                let ahead = self.record_ahead(instruction, target)?;
                let is_known = is_recorded(&ahead);
                let is_same =
                    is_known && self.same_methods(instruction, before, ahead) == Some(true);
                (is_same, is_known)
            }
            None => {
                let (tables, compression) = (&instruction.tables, self.vm.compression);
                let scope = tables.scope(&self.memory, compression, before.scope)?;
                (scope.sender == 0, false)
            }
        };
        // Only with DebugNonSafepoints are there such records.
        let is_known = is_known || is_recorded(&before) || is_recorded(&next);
        let certainty = if is_known && is_same {
            Certainty::WithoutBci
        } else if end.calls {
            return None;
        } else {
            Certainty::Likely
        };
        // The thread has run the last instruction of this record, if it has one.
        is_known.then_some((before, certainty))
    }

    /// Where the code ends that runs straight on from the instruction.
    fn end(&self, instruction: &Instruction) -> Option<End> {
        const STEPS: usize = 64;
        let (mut at, mut calls) = (instruction.pc, false);
        for _ in 0..STEPS {
            let met = Native::decode(&self.memory.code(at))?;
            at = at.wrapping_add(met.length);
            match met.effect {
                Effect::Jump(distance) => {
                    let target = Some(at.wrapping_add_signed(distance as isize));
                    return Some(End { target, calls });
                }
                Effect::Return => {
                    let target = None;
                    return Some(End { target, calls });
                }
                Effect::Call => calls = true,
                Effect::JumpRegister(_) | Effect::JumpMemory | Effect::Trap => return None,
                _ => {}
            }
        }
        None
    }

    /// The first record on the way from the target of a jump on, through other jumps.
    fn record_ahead(&self, instruction: &Instruction, target: usize) -> Option<Record> {
        const JUMPS: usize = 4;
        let mut at = target;
        for _ in 0..JUMPS {
            let around = instruction.around(&self.memory, at)?;
            // A poll has its record at its start.
            let poll = around.before.filter(|_| {
                let offset = instruction.offset_of(at);
                offset.is_some_and(|offset| self.begins_poll(instruction, &around, offset))
            });
            if poll.is_some() {
                return poll;
            }
            let next = around.behind.filter(|record| record.scope != 0);
            if let Some(next) = next
                && self.way(at, instruction.address_of(next)).is_some()
            {
                return Some(next);
            }
            let from = Instruction {
                pc: at,
                ..*instruction
            };
            at = self.end(&from)?.target?;
        }
        None
    }
}
