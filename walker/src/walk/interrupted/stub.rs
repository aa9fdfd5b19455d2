//! Stubs, interrupted at any instruction: they say little about their frames.

use crate::vm::code_cache::Blob;
use crate::walk::caller::frame_at;
use crate::walk::frame::{Failure, FrameKind};
use crate::walk::return_address::is_behind_call;
use crate::walk::{Found, Place, Position, Step, Walk};
use hotspot::unwind::exit::Calls;
use hotspot::unwind::{Register, Registers};

const WORD: usize = size_of::<usize>();

impl Walk<'_> {
    /// A stub, which says little about its frame.
    pub(super) fn interrupted_stub(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        const STEPS: usize = 512;
        let frame = Found::Frame(frame_at(place, FrameKind::Stub, -1));
        let call_stub = &self.vm.call_stub;
        if let Some(wrapper) = call_stub.wrapper(&self.memory, place.pc, registers) {
            if !self.is_on_stack(wrapper) {
                return Err(Failure::Top);
            }
            let anchor = self.vm.threads.wrapped_anchor(&self.memory, wrapper);
            let next = self.anchored(anchor)?;
            return Ok(Step { frame, next });
        }
        if let Some(exit) = self.exit(place, registers, STEPS, Calls::Return)
            && let Some(next) = self.behind_stub(place.sp, exit.pc, exit.registers)
        {
            return Ok(Step { frame, next });
        }
        // By the frame's size, if it has one; by the frame pointer; or without a frame at all.
        let sized = blob.frame_words.map(|words| {
            place
                .sp
                .wrapping_add(words.wrapping_sub(1).wrapping_mul(WORD))
        });
        let linked = Some(place.fp.wrapping_add(WORD)).filter(|&slot| slot > place.sp);
        let next = [sized, linked, Some(place.sp)]
            .into_iter()
            .flatten()
            .find_map(|slot| {
                let mut registers = *registers;
                if slot != place.sp {
                    registers.set(Register::RBP, self.word(slot.wrapping_sub(WORD)));
                }
                registers.set(Register::RSP, Some(slot.wrapping_add(WORD)));
                self.behind_stub(place.sp, self.word(slot)?, registers)
            });
        Ok(Step {
            frame,
            next: next.ok_or(Failure::Top)?,
        })
    }

    /// The position at the caller of a stub, if `pc` is behind a call: Java code stands at a call
    /// there, or called the stub in the middle of something else.
    pub(in crate::walk) fn behind_stub(
        &self,
        below: usize,
        pc: usize,
        registers: Registers,
    ) -> Option<Position> {
        let sp = registers.get(Register::RSP)?;
        if sp <= below || !self.is_on_stack(sp) {
            return None;
        }
        if self.is_return(pc) {
            let fp = registers.get(Register::RBP)?;
            return Some(Position::Call(Place { pc, sp, fp }));
        }
        let is_code = self.vm.code_cache.blob(&self.memory, pc).is_some();
        (is_code && is_behind_call(&self.memory, pc))
            .then_some(Position::Interrupted(pc, registers))
    }
}
