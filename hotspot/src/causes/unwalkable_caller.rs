//! `unwalkable-caller`: the walk ends at a caller that the walker refuses.
//!
//! The caller's program counter is the deoptimisation handler, because the caller's frame will be
//! deoptimised. The walker does not accept this program counter (`frame::safe_for_sender`).
//!
//! The proof is a return address that is the deoptimisation handler of a method (`deopt_handler_begin` in
//! `share/code/nmethod.hpp`) whose frame the walk lacks.

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
