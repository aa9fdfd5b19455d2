//! The stubs of compiled code, behind its instructions: handlers of exceptions and of deoptimisation, and stubs of
//! calls. None of them removes the method's frame.

use crate::layout::code_cache::{Blob, Kind};
use crate::walk::frame::Failure;
use crate::walk::return_address::calls_into;
use crate::walk::{Place, Position, Walk};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Follow, Native};

const WORD: usize = size_of::<usize>();

impl Walk<'_> {
    /// The call behind which `place` is, if `place` is in the stub of a static call: compiled code calls this stub of its
    /// own, which loads the method and jumps on (`CompiledDirectCall::emit_to_interp_stub`).
    pub(super) fn behind_static_stub(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Option<Position>, Failure> {
        if !Native::is_static_stub(&self.memory, place.pc) {
            return Ok(None);
        }
        let calls_stub = |caller: &Place| calls_into(&self.memory, blob, caller.pc);
        let Some(caller) = self.unframed(place, registers).filter(calls_stub) else {
            return Ok(None);
        };
        self.caller(place.sp, caller).map(Some)
    }

    /// Whether `pc` is in the stubs of compiled code, which do not return.
    pub(super) fn is_in_stubs(&self, blob: &Blob, pc: usize) -> bool {
        let layout = self.vm.code_cache.nmethods();
        matches!(blob.kind, Kind::Compiled(nmethod) if nmethod.is_in_stubs(layout, &self.memory, pc))
    }

    /// The end of the frame of code that is to be deoptimised, and is in its handler. Up to JDK 25 the handler pushes its own
    /// address, or calls its next instruction and lowers the return address; from JDK 26 on nothing is pushed in the handler.
    pub(super) fn end_in_handler(&self, blob: &Blob, place: Place, end: usize) -> Option<usize> {
        let Kind::Compiled(nmethod) = blob.kind else {
            return None;
        };
        let layout = self.vm.code_cache.nmethods();
        let handler = nmethod.deopt_handler_at(layout, &self.memory, place.pc)?;
        let is_pushed = Native::CALLS_PUSH
            && place.pc != handler.start
            && handler.contains(&self.word(place.sp)?);
        Some(end.wrapping_add(usize::from(is_pushed) * WORD))
    }
}
