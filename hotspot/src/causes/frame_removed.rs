//! `frame-removed`: compiled code has removed its frame and is about to return. The walker takes
//! words of the caller's frame for words of the removed frame.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::{Facts, TopFrame};
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "frame-removed",
    meaning: "compiled code has removed its frame, and is about to return",
    why: "Compiled code has popped its frame and is about to return. The walker assumes that the frame is still there, and skips a caller or invents one.",
    sources: &[
        Source {
            file: "src/hotspot/cpu/x86/frame_x86.cpp",
            function: "frame::safe_for_sender",
            fault: "Takes `sender_sp = unextended_sp + frame_size` for compiled code and for stubs. At the return the frame is already removed, so this word belongs to a caller or to an older call.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "find_initial_Java_frame",
            fault: "Accepts the interrupted compiled method as the initial frame at every program counter; nothing checks whether the code is behind the epilogue.",
        },
    ],
    proof: "The bytes of the epilogue at the program counter, or the return address, known by the call before it, at the stack pointer or one word above. In a stub, its code, followed up to the caller, comes to a return address nearer than the size of its frame says.",
    notes: "The epilogues are, in a compiled method, the pop of the frame pointer, the return poll and `ret`; in a native wrapper `leave`, the check for an exception and `ret`; in `Continuation.doYield`, behind a yield, the pop and `ret`; and where an exception leaves a method the pop and `jmp`. A stub that has resolved a call gives back its frame in parts while it restores all registers, up to the jump to the method; others, as the exception blob and the uncommon trap's, run some instructions before their frame is built. One or two words of the frame are left, but the walker adds its whole size: it skips as many callers as fit into the removed frame, or finds none. In hooked programs there is a call just before each return, and the cause is rarer.",
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: Ok(&[Program {
        note: "Deep recursion in compiled code: the walker skips callers at returns.",
        fixture: "mutual-recursion",
        hooks: "none",
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    // A walk whose top frames are those of the next record has found the right caller of the stub: that is `below-stub`.
    let is_caller_found = facts.runs(CodeKind::Stub) && facts.case.proofs.is_next_record;
    facts.top_frame == TopFrame::Removed && !is_caller_found
}
