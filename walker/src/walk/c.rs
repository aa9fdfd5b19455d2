//! Frames of C and C++: above Java frames, between them, and below.

use crate::c_frames::CFrame;
use crate::layout::code_cache::Kind;
use crate::walk::frame::{Failure, FrameKind};
use crate::walk::frame_at;
use crate::walk::{BelowC, Place, Position, Step, Walk, Yield};
use hotspot::arch::{Follow, Native};
use hotspot::layout::thread::Anchor;

impl Walk<'_> {
    /// The frame of C or C++ above `below`.
    pub(super) fn c_frame(&mut self, frame: &CFrame, below: BelowC) -> Result<Step, Failure> {
        let sp = frame.registers.get(Native::SP).ok_or(Failure::Top)?;
        let place = Place {
            pc: frame.pc,
            sp,
            fp: frame.registers.get(Native::FP).unwrap_or(0),
        };
        let caller = frame
            .caller(&self.vm.libraries, &self.memory)
            .filter(|caller| {
                let sp_of_caller = caller.registers.get(Native::SP);
                // Interrupted code may not have a frame.
                let least = if frame.is_at_call { sp + 1 } else { sp };
                let is_above = |above: usize| match Native::LINK {
                    Some(_) => above >= least,
                    None => above > sp,
                };
                sp_of_caller.is_some_and(|above| is_above(above) && self.is_on_stack(above))
            });
        let left = self.c_frames_left.checked_sub(1);
        self.c_frames_left = left.unwrap_or(0);
        let caller = caller.filter(|_| left.is_some());
        let next = match (caller, below) {
            (Some(caller), BelowC::Anchored(anchor)) if self.is_above(&caller, anchor) => {
                Position::C(caller, below)
            }
            (_, BelowC::Anchored(anchor)) => self.anchored(Some(anchor))?,
            // The VM is moving frames from the heap to the stack: some are in neither place.
            (Some(caller), _) if self.thaws(caller.pc) => return Err(Failure::Caller),
            (Some(caller), _) if self.vm.code_cache.contains(caller.pc) => {
                Position::Called(caller.pc, caller.registers)
            }
            (Some(caller), _) => Position::C(caller, below),
            (None, BelowC::Nothing) => Position::End,
            (None, BelowC::Generated) => return Err(Failure::Top),
        };
        Ok(Step {
            frame: Yield::Frame(frame_at(place, FrameKind::Cpp, -1)),
            next,
        })
    }

    /// Whether the code that continues at `pc` has called the VM to move frames of a continuation.
    fn thaws(&self, pc: usize) -> bool {
        let blob = self.vm.code_cache.blob(&self.memory, pc);
        blob.is_some_and(|blob| blob.kind == Kind::Continuation)
    }

    /// Whether `caller` is still above the Java frames at `anchor`.
    fn is_above(&self, caller: &CFrame, anchor: Anchor) -> bool {
        let sp = caller.registers.get(Native::SP);
        sp.is_some_and(|sp| sp <= anchor.sp) && !self.vm.code_cache.contains(caller.pc)
    }
}
