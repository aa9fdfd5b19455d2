//! `called-by-vm`: the walk ends below a method that the VM called.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;
use crate::runtime::is_called_by_vm;

pub(super) const CAUSE: Cause = Cause {
    name: "called-by-vm",
    meaning: "the walk ends below a method that the VM called",
    why: "The VM itself called this method, for example a class initialiser or the constructor of an implicit exception. The walk ends there, although Java callers lie below.",
    sources: &[
        Source {
            file: "src/hotspot/cpu/x86/frame_x86.cpp",
            function: "frame::safe_for_sender",
            fault: "Returns false for a runtime stub, because `CodeBlob::is_frame_complete_at` is false there: the compilers create these stubs with `CodeOffsets::frame_never_safe`. But a stub to which the anchor of a JavaCalls entry leads has a complete frame.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "vframeStreamForte::forte_next",
            fault: "Sets `at_end_mode` if `safe_for_sender` returns false. The caller gets the stack that was found so far, without an error code.",
        },
    ],
    proof: "A `JavaCallWrapper` on the stack whose anchored program counter is in a stub, and a method that the VM calls as the lowest frame of the walk. If the true caller's instruction names the method, as in `new MyException()`, the caller itself may have called it, and nothing is proven.",
    notes: "Other such methods are `MethodHandleNatives.linkCallSite` and its like, `Finalizer.register` and `ClassLoader.loadClass`. The verdict is `truncated`, or `wrong` where the called method has not run its first hook yet. Where native wrappers or the interpreter had called the VM, the walk passes on. `asgct-safepoint` shows the cause without a trace stack, and `call-edge` without hooks.",
    recognise,
    needs: &[Capability::CodeCache, Capability::JavaCalls],
    since: 0,
    programs: Ok(&[Program {
        note: "The VM calls constructors of exceptions.",
        fixture: "implicit-exceptions",
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let lowest = facts.case.lowest;
    let proofs = facts.case.proofs;
    let calls_from_stub = proofs.entries.contains(&CodeKind::Stub);
    let is_by_vm = lowest.is_some_and(is_called_by_vm) && !proofs.is_lowest_named;
    facts.is_cut() && calls_from_stub && is_by_vm
}
