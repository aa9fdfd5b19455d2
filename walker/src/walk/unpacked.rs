//! Frames of the interpreter that are about to take the place of a compiled frame, from their description.

use crate::layout::certainty::Certainty;
use crate::walk::frame::{Failure, Frame, FrameKind};
use crate::walk::{Place, Position, Step, Unpacked, Walk, Yield};
use hotspot::arch::{Arch, Landings, Native};
use hotspot::layout::method::Method;
use hotspot::layout::unpacked::Caller;

impl Walk<'_> {
    /// The position behind the code at `place`, which replaces a compiled frame by those that the VM has described.
    ///
    /// The description is complete from the moment at which the thread has it until the new frames are: first
    /// `Deoptimization::create_vframeArray` fills it in, then `fetch_unroll_info_helper` makes it the thread's, and
    /// `cleanup_deopt_info` takes it away behind `unpack_to_stack`. Until then neither the compiled frame nor the new ones
    /// need be whole on the stack.
    pub(super) fn replaced(&self, place: Place) -> Result<Position, Failure> {
        let frames = || {
            let address = self.unpacks?;
            self.vm.unpacked.as_ref()?.read(&self.memory, address)
        };
        let frames = frames().ok_or(Failure::Deoptimizing)?;
        let first = Unpacked {
            frames,
            at: 0,
            place,
        };
        Ok(Position::Unpacked(first))
    }

    /// The frame.
    pub(super) fn unpacked(&self, unpacked: Unpacked) -> Result<Step, Failure> {
        let Unpacked { frames, at, place } = unpacked;
        let layout = self.vm.unpacked.as_ref().ok_or(Failure::Deoptimizing)?;
        let scope = layout.frame(&self.memory, frames, at);
        let scope = scope.ok_or(Failure::Deoptimizing)?;
        // The memory may be of something else by now if another thread is walked.
        let known = self.vm.methods.known(&self.memory, Method(scope.method));
        let method = known.ok_or(Failure::Deoptimizing)?.method;
        let frame = Frame {
            kind: FrameKind::Java,
            level: -1,
            method: Some(method),
            // At the entry of a synchronized method the BCI is -1.
            bci: u16::try_from(scope.bci).ok(),
            certainty: Certainty::Full,
            pc: place.pc,
            sp: place.sp,
            fp: place.fp,
        };
        let next = at + 1;
        let next = if next < frames.count {
            Position::Unpacked(Unpacked {
                at: next,
                ..unpacked
            })
        } else {
            let caller = layout.caller(&self.memory, frames);
            let Caller { pc, sp, fp } = caller.ok_or(Failure::Deoptimizing)?;
            let pc = Native::strip(pc);
            let is_known = self.is_return(pc) && self.is_caller_sp(sp, place.sp);
            let caller = is_known.then_some(Place { pc, sp, fp });
            Position::Call(caller.ok_or(Failure::Deoptimizing)?)
        };
        Ok(Step {
            frame: Yield::Frame(frame),
            next,
        })
    }
}
