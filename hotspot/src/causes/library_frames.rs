//! `library-frames`: a profiler's walk ends among the frames of libraries, and has no Java frame.

use super::cause::{Cause, OF_PROFILERS};
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "library-frames",
    meaning: "the walk ends among the frames of libraries, before the first Java frame",
    why: "The sample hits a library that Java code has called, and neither an anchor nor the unwinding of the library's frames leads to the first Java frame (StackWalker::walkVM in src/stackWalker.cpp of async-profiler). The profiler shows the stack without a mark.",
    sources: &[],
    proof: "The program counter in a library, and a walk without a Java frame.",
    notes: "A profiler that asks AsyncGetCallTrace gets 0, no Java frame, and shows an empty stack.",
    recognise,
    needs: &[],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let instant = facts.case.instant;
    let is_in_library = instant.is_some_and(|instant| instant.code == CodeKind::Library);
    is_in_library && facts.case.lowest.is_none()
}
