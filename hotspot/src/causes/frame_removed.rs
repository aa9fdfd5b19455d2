//! `frame-removed`: compiled code has removed its frame and is about to return. The walker takes
//! words of the caller's frame for words of the removed frame.

use super::cause::{Cause, Program};
use crate::capability::Capability;
use crate::case::{Facts, TopFrame};

pub(super) const CAUSE: Cause = Cause {
    name: "frame-removed",
    meaning: "compiled code has removed its frame, and is about to return",
    why: "Compiled code has popped its frame and is about to return. The walker takes the frame for present, and skips a caller or invents one.",
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: &[Program {
        note: "Deep recursion in compiled code: the walker skips callers at returns.",
        fixture: "mutual-recursion",
        hooks: "none",
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.top_frame == TopFrame::Removed
}
