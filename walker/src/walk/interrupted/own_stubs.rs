//! The stubs of compiled code, behind its instructions: handlers of exceptions and of deoptimisation, and stubs of
//! calls. None of them removes the method's frame.

use crate::layout::code_cache::{Blob, Kind};
use crate::walk::frame::Failure;
use crate::walk::return_address::calls_into;
use crate::walk::{Place, Position, Walk};
use hotspot::arch::{Follow, Landings, Native};

const WORD: usize = size_of::<usize>();

impl Walk<'_> {
    /// The call behind which `place` is, if `place` is in the stub of a static call: compiled code calls this stub of its
    /// own, which loads the method and jumps on (`CompiledDirectCall::emit_to_interp_stub`).
    pub(super) fn behind_static_stub(
        &self,
        blob: &Blob,
        place: Place,
    ) -> Result<Option<Position>, Failure> {
        if !Native::is_static_stub(&self.memory, place.pc) {
            return Ok(None);
        }
        let calls_stub = |&pc: &usize| self.is_return(pc) && calls_into(&self.memory, blob, pc);
        let Some(pc) = self.word(place.sp).filter(calls_stub) else {
            return Ok(None);
        };
        let sp = place.sp.wrapping_add(WORD);
        self.caller(place.sp, Place { pc, sp, ..place }).map(Some)
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
        let is_pushed = place.pc != handler.start && handler.contains(&self.word(place.sp)?);
        Some(end.wrapping_add(usize::from(is_pushed) * WORD))
    }
}
