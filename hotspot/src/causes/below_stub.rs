//! `below-stub`: compiled code has called a stub of the VM, and the walker takes the debug info
//! record behind the call for the record of the call.
//!
//! The proof is that the top frames of the walk are those of the record behind the record of the
//! call, and that one of them is the frame that differs.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "below-stub",
    meaning: "the debug info record behind a call that is under way",
    why: "Compiled code has called a stub of the VM, and the thread is still in it. The walker reads the debug info record behind the call, and reports frames that have not begun.",
    sources: &[Source {
        file: "src/hotspot/share/prims/forte.cpp",
        function: "is_decipherable_compiled_frame",
        fault: "Looks for the record at the program counter itself only if that program counter is the anchored one. While a stub is called, the stub's program counter is the anchored one; the caller's frame stands at a call, but `pc_desc_near(fr->pc() + 1)` returns the record behind the call.",
    }],
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::ThreadStates,
        Capability::MethodNames,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "New code links its calls.",
        fixture: "fresh-code",
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    // Where the thread asks in an event, the proof itself asks for the stub.
    let is_here = facts.case.instant.is_none();
    let in_stub = is_here || facts.is_anchored_in(CodeKind::Stub) || facts.runs(CodeKind::Stub);
    facts.is_wrong() && in_stub && facts.case.proofs.is_next_record
}
