//! `below-stub`: compiled code has called a stub of the VM, and the walker takes the debug info
//! record behind the call for the record of the call.

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
    proof: "The stub's return address lies at an exact record of the caller, the top frames of the walk are those of the next record, and the frame that differs is one of them.",
    notes: "The record behind belongs to inlined callees that have not been entered, or to frames that have been left. Hooked programs link more calls than others, because our hooks are static calls. Other such stubs are the exception blob; C1's patching of code that needs a class, where the event of the class's loading shows the cause, too; the end of the VM's stub of calls, where a method that the VM has called for such a stub has returned; and `StackOverflowError throw_exception`. That stub stands directly on the caller, because a callee touches the stack pages that it may need before it has a frame: the walk has one frame too many (fixture `stack-overflow`; never with `-Xint`, where there are no records).",
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
