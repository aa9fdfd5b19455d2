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
        // The last record of all, behind the code, has no scope.
        let is_recorded = |record: &Record| {
            record.scope != 0 && self.has_map(instruction, *record) == Some(false)
        };
        let end = self.end(instruction)?;
        let runs_here = |before: &Record| {
            let start = instruction.address_of(*before);
            self.way(start, instruction.pc).is_some()
        };
        let Some(before) = before.filter(runs_here) else {
            // A slow path: most stand at the end of the code (`C2CodeStub`), and jump back to the end of the node that they are
            // a part of. So the record of the byte before is that of the node.
            let node = instruction.around(&self.memory, end.target?.wrapping_sub(1))?;
            let node = node.behind.filter(is_recorded);
            return node.map(|node| (node, Certainty::Likely));
        };
        // Only with DebugNonSafepoints is it known of which methods the instructions are that have run.
        if !is_recorded(&before) && !is_recorded(&next) {
            return None;
        }
        if end.target.is_some() {
            // A jump at the end of a block is of no bytecode, and so is all between the last record and the jump: what has one is
            // pending, and has got its record at the next instruction of another (`observe_instruction`), because the jump lies
            // between (`_pending_offset < pc_offset`).
            //
            //         mov  …                 of before
            //         vzeroupper             of none: moves, spills
            //         jmp  there             of none
            //
            // The thread has run the last instruction of `before`, but that may be one of the caller which C2 has moved before
            // the last of an inlined method. The record ahead of the jump does not tell: it may be of another such instruction.
            return (!end.calls).then_some((before, Certainty::Likely));
        }
        // A `ret` is of the compiled method alone, and so is all before it up to the last record. An instruction of an inlined
        // method would have a record behind it.
        let (tables, compression) = (&instruction.tables, self.vm.compression);
        let is_alone = tables
            .scope(&self.memory, compression, before.scope)?
            .sender
            == 0;
        let certainty = if is_alone {
            Certainty::WithoutBci
        } else {
            Certainty::Likely
        };
        Some((before, certainty))
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
}
