//! `unwalkable-caller`: the walk ends at a caller that the walker refuses.
//!
//! A frame's caller has a program counter that the walker does not accept: that of a frame to be
//! deoptimised, or of a stub. This is what a cut is where nothing more special explains it, so
//! this cause stands last.

use super::cause::{Cause, Program};

pub(super) const CAUSE: Cause = Cause {
    name: "unwalkable-caller",
    meaning: "the walk ends at a caller that it refuses",
    recognise: |facts| facts.is_cut(),
    since: 0,
    programs: &[Program {
        note: "Classes are loaded whose existence makes compiled code wrong, while that code is on \
               the stack.",
        fixture: "deopt-hierarchy",
        ..Program::USUAL
    }],
};
