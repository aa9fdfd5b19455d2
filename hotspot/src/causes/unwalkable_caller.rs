//! `unwalkable-caller`: the walk ends at a caller that the walker refuses.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;

pub(super) const CAUSE: Cause = Cause {
    name: "unwalkable-caller",
    meaning: "the walk ends at a caller that it refuses",
    why: "The caller was deoptimised while it is on the stack. The walker refuses it, and drops everything below.",
    sources: &[
        Source {
            file: "src/hotspot/cpu/x86/frame_x86.cpp",
            function: "frame::safe_for_sender",
            fault: "Returns false if the return address is the deoptimisation handler of the caller (`is_deopt_entry`), although the caller's frame is complete and the handler's method is known.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "vframeStreamForte::forte_next",
            fault: "Sets `at_end_mode` if `safe_for_sender` returns false. The caller gets the stack that was found so far, without an error code.",
        },
    ],
    proof: "A return address that is the deoptimisation handler of a method (`deopt_handler_begin` in `share/code/nmethod.hpp`) whose frame the walk lacks.",
    notes: "A profiler loses everything below, while GetStackTrace returns it. The walker can refuse an interpreted caller, too: JDK-8302320, in JDK 17.0.2 to 17.0.7. A linker of a method handle drops an argument, so the caller's stack pointer lies above the place that the check expects, if the interpreted callee has no local variables but its parameters. No proof recognises this: such stacks are `unexplained`. The fixture `method-handles-interpreted` shows it with `-Xint`, and a hook that gives the callee a local variable hides it.",
    recognise: |facts| facts.is_cut() && !facts.case.proofs.deoptimised.is_empty(),
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::MethodNames,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "Classes are loaded whose existence makes compiled code wrong, while that code is on \
               the stack. C1 compiles a call that was never made; C2 leaves such a call to the \
               interpreter.",
        fixture: "deopt-hierarchy",
        jvm_args: &["-XX:TieredStopAtLevel=1"],
        ..Program::USUAL
    }]),
};
