//! `interpreter-frame`: the interpreter has not built its frame yet, or has removed the frame.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;
use crate::proofs::InterpreterFrame;

pub(super) const CAUSE: Cause = Cause {
    name: "interpreter-frame",
    meaning: "the interpreter's frame is not built yet, or removed",
    why: "The sample hits the entry or exit of an interpreted method. Its frame is not complete, so the newest frames are lost.",
    sources: &[
        Source {
            file: "src/hotspot/os_cpu/linux_x86/javaThread_linux_x86.cpp",
            function: "JavaThread::pd_get_top_frame",
            fault: "Builds the top frame from the frame pointer register. In the method entry the interpreter's frame is not linked yet, and behind `leave` it is removed: then the register belongs to an older frame.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "find_initial_Java_frame",
            fault: "Accepts the older interpreter frame as the newest one. All compiled frames between them are lost.",
        },
    ],
    proof: "The program counter, in a codelet \"method entry point\" before the frame is linked, or behind its removal. The walk lacks frames of the top and no others: its own top frame is a caller, at an instruction that can call. An interpreted top frame with a wrong BCI is `unexplained`.",
    notes: "The interpreter also removes its frame before it passes an exception on (`TemplateInterpreterGenerator::generate_throw_exception`). If the caller is compiled code, which uses the frame pointer register for other purposes, all compiled frames above the older interpreter frame are lost.",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::Interpreter,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "Code of C1 calls methods that are never compiled.",
        fixture: "huge-methods",
        jvm_args: &["-XX:TieredStopAtLevel=1"],
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let proofs = facts.case.proofs;
    let has_no_frame = proofs.interpreter != InterpreterFrame::Intact;
    facts.lacks_top() && facts.runs(CodeKind::Interpreter) && has_no_frame && proofs.is_top_at_call
}
