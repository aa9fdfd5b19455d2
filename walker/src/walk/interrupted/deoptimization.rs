//! The code that replaces compiled frames by interpreted ones, interrupted at any instruction.

use crate::layout::code_cache::Blob;
use crate::walk::frame::{Failure, FrameKind};
use crate::walk::frame_at;
use crate::walk::{Place, Step, Walk, Yield};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Effect, Follow, Landings, Native};
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

impl Walk<'_> {
    /// The code that replaces a compiled frame. Until its first call, the compiled frame is there as it was when it
    /// called this code.
    pub(super) fn interrupted_deoptimization(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        const STEPS: usize = 64;
        let called = || {
            let depth = Native::follow(&self.memory, blob.code, place.pc, STEPS);
            let depth = depth.filter(|_| !self.calls_between(blob.code, place.pc))?;
            let caller = self.at_depth(place, registers, depth)?;
            self.caller(place.sp, caller).ok()
        };
        let throws = || {
            // Room for the address is made in another way where calls do not push it.
            if Native::LINK.is_some() {
                return None;
            }
            let caller = self.throws_into(place, registers)?;
            self.behind_frame(blob.kind, place.sp, caller)
        };
        // The frame of this code stands behind the compiled frame, until the VM describes the new frames.
        let linked = || self.linked(blob, place).filter(|_| self.unpacks.is_none());
        let next = called().or_else(throws).or_else(linked);
        let next = next.map_or_else(|| self.replaced(place), Ok);
        Ok(Step {
            frame: Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
            next: next?,
        })
    }

    /// The compiled frame that is to be deoptimised because of an exception: a register or the thread says where the frame stands,
    /// and the frame of the deoptimising code has room for that address only.
    fn throws_into(&self, place: Place, registers: &Registers) -> Option<Place> {
        if let Some(caller) = self.throws_and_links(place, registers) {
            return Some(caller);
        }
        let origin = self.thrown_at.filter(|&origin| self.is_return(origin))?;
        let fp = place.fp;
        let slot = fp.wrapping_add(WORD);
        if fp < place.sp || !self.is_on_stack(slot) || self.word(slot)? != 0 {
            return None;
        }
        Some(Place {
            pc: origin,
            sp: slot.wrapping_add(WORD),
            fp: self.word(fp)?,
        })
    }

    /// As [`Walk::throws_into`], where the code is about to make room for the address, and to link its frame: it
    /// pushes 0 and the frame pointer, and sets the frame pointer.
    fn throws_and_links(&self, place: Place, registers: &Registers) -> Option<Place> {
        /// The address and the exception are kept first.
        const STEPS: usize = 5;
        let origins = [registers.get(Native::THROWN_FROM), self.thrown_at];
        let mut origins = origins.into_iter().flatten();
        let origin = origins.find(|&origin| self.is_return(origin))?;
        let (mut pc, mut pushes) = (place.pc, 0);
        for _ in 0..STEPS {
            let instruction = Native::decode(&self.memory.code(pc))?;
            match instruction.effect {
                Effect::Push(None) => pushes += 1,
                Effect::Push(Some(Native::FP)) => pushes += 1,
                Effect::Move(Native::FP, Native::SP) => {
                    // What was pushed before, of the two words.
                    let pushed = 2usize.checked_sub(pushes)?;
                    let fp = match pushed {
                        2 => self.word(place.sp)?,
                        _ => place.fp,
                    };
                    return Some(Place {
                        pc: origin,
                        sp: place.sp.wrapping_add(pushed * WORD),
                        fp,
                    });
                }
                Effect::Store(Native::THREAD, ..) => {}
                _ => return None,
            }
            pc = pc.wrapping_add(instruction.length);
        }
        None
    }

    /// Whether the code from `start` to `end` calls other code or jumps.
    fn calls_between(&self, start: usize, end: usize) -> bool {
        let mut at = start;
        while at < end {
            let Some(instruction) = Native::decode(&self.memory.code(at)) else {
                return true;
            };
            match instruction.effect {
                Effect::Call | Effect::Jump(_) | Effect::JumpRegister(_) | Effect::JumpMemory => {
                    return true;
                }
                _ => at = at.wrapping_add(instruction.length),
            }
        }
        false
    }
}
