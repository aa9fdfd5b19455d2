//! `unwalkable-caller`: the walk ends at a caller that the walker refuses.
//!
//! A frame's caller has a program counter that the walker does not accept: that of a frame to be
//! deoptimised (`frame::safe_for_sender`).
//!
//! The proof is a return address that is the deoptimisation handler of a method (`deopt_handler_begin` in
//! `share/code/nmethod.hpp`) whose frame the walk lacks.

use super::cause::{Cause, Program};

pub(super) const CAUSE: Cause = Cause {
    name: "unwalkable-caller",
    meaning: "the walk ends at a caller that it refuses",
    recognise: |facts| facts.is_cut() && !facts.case.proofs.deoptimised.is_empty(),
    since: 0,
    programs: &[Program {
        note: "Classes are loaded whose existence makes compiled code wrong, while that code is on \
               the stack.",
        fixture: "deopt-hierarchy",
        ..Program::USUAL
    }],
};
