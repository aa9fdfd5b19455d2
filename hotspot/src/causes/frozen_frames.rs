//! `frozen-frames`: a virtual thread's callers are still in the heap, where the thread left them
//! when it yielded.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;

/// Between the frames of a virtual thread and those of its carrier lies a frame of this method.
const ENTER_SPECIAL: &str = "jdk.internal.vm.Continuation.enterSpecial(";

pub(super) const CAUSE: Cause = Cause {
    name: "frozen-frames",
    meaning: "a virtual thread's callers, still in the heap",
    why: "A virtual thread's callers are still frozen in the heap. The walker sees only the frames on the carrier's stack.",
    sources: &[
        Source {
            file: "src/hotspot/cpu/x86/frame_x86.cpp",
            function: "frame::safe_for_sender",
            fault: "Goes from a return barrier (`Continuation::is_return_barrier_entry`) to the continuation entry. The frames that are still in the heap are left out.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "vframeStreamForte::vframeStreamForte",
            fault: "Walks with `RegisterMap::WalkContinuation::skip`, so the walk never enters the stack chunk in the heap.",
        },
    ],
    proof: "The return barrier (`StubRoutines::cont_returnBarrier()`), to which the lowest frame on the stack returns. The walk must pass to `enterSpecial` where it differs.",
    notes: "When a virtual thread continues after a yield, HotSpot copies only the newest frames back to the stack, and each older frame when the thread returns to it (`continuationFreezeThaw.cpp`). After two or three frames the walk passes to the carrier, without an error code. The verdict is `truncated`, or `wrong` where no entry of the trace stack belongs to a frame on the stack. `asgct-safepoint` shows that GetStackTrace has these callers at the same instant.",
    recognise,
    needs: &[Capability::CodeCache],
    since: 21,
    programs: Ok(&[Program {
        note: "Virtual threads that yield many frames deep; skipped where there are none.",
        fixture: "virtual-threads-10000",
        seconds: 1,
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    // `ThawBase::patch_caller`, in `continuationFreezeThaw.cpp`: while frames are left in the heap, the lowest frame on the
    // stack returns to `StubRoutines::cont_returnBarrier()`, which copies the next ones. At this address `frame::sender` goes
    // on in the heap if the `RegisterMap` walks continuations (`walk_cont`), as that of GetStackTrace does. That of
    // `vframeStreamForte` does not, and gets the frame of `enterSpecial`.
    let at = facts.case.at;
    at.is_some_and(|at| at.starts_with(ENTER_SPECIAL)) && facts.case.proofs.is_return_barrier
}
