//! `frozen-frames`: a virtual thread's callers are still in the heap, where the thread left them
//! when it yielded.

use super::cause::{Cause, Program};
use crate::case::Facts;

/// Between the frames of a virtual thread and those of its carrier lies a frame of this method.
const ENTER_SPECIAL: &str = "jdk.internal.vm.Continuation.enterSpecial(";

pub(super) const CAUSE: Cause = Cause {
    name: "frozen-frames",
    meaning: "a virtual thread's callers, still in the heap",
    why: "A virtual thread's callers are still frozen in the heap. The walker sees only the frames on the carrier's stack.",
    recognise,
    needs: &[],
    since: 21,
    programs: &[Program {
        note: "Virtual threads that yield many frames deep; skipped where there are none.",
        fixture: "virtual-threads-10000",
        seconds: 1,
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    let at = facts.case.at;
    at.is_some_and(|at| at.starts_with(ENTER_SPECIAL))
}
