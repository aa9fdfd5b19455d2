//! `leaf-call`: generated code called a function of the VM or of another library without an anchor
//! to the last Java frame.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "leaf-call",
    meaning: "a function of a library, without an anchor",
    why: "Compiled code called a function of the VM or of a library without leaving an anchor; or the VM is about to call a Java method, or comes back from it, and has put the anchor away. The walker trusts the frame pointer, and loses or invents frames.",
    sources: &[
        Source {
            file: "src/hotspot/os_cpu/linux_x86/javaThread_linux_x86.cpp",
            function: "JavaThread::pd_get_top_frame",
            fault: "Builds the top frame from the frame pointer register if there is no anchor. The function of the library was compiled without a frame pointer, so the register is the caller's, or no frame pointer at all.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "find_initial_Java_frame",
            fault: "Follows frame pointers from there (`fr->cb() == nullptr`) until code of the code cache is found, and accepts this frame as the newest Java frame.",
        },
        Source {
            file: "src/hotspot/share/runtime/javaCalls.cpp",
            function: "JavaCalls::call_helper",
            fault: "Prepares the call, and frees handles behind it, while `JavaCallWrapper` has the anchor and the thread counts as in Java.",
        },
    ],
    proof: "The return address into generated code, behind a call to a library, below the frame to which the frame pointer leads; or frames of libraries alone up to the `JavaCallWrapper` on the stack. A walk that lacks its bottom has this cause only where it begins and ends with the code to which the frame pointer leads, and this code has another stack pointer than the walker computes: an adapter has moved it, or the anchor that was put away has it; or where a native method has called the VM, and the walk does not begin there.",
    notes: "Either the VM runs a function that sets no anchor (`JRT_LEAF`, exception dispatch), or a function of the VM was just entered and has not changed the thread's state yet. In the fixture nearly all such stacks stand at the first instruction of `InterpreterRuntime::multianewarray`.",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "Methods that are never compiled call the VM.",
        fixture: "huge-methods",
        jvm_args: &["-XX:TieredStopAtLevel=1"],
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let proofs = facts.case.proofs;
    let is_leaf_call = proofs.is_leaf_call && facts.runs(CodeKind::Library);
    let is_false = if facts.is_wrong() {
        !facts.is_of_bci()
    } else {
        facts.is_cut() && proofs.is_caller_misplaced
    };
    is_leaf_call && is_false
}
