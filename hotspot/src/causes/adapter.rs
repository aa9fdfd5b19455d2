//! `adapter`: a profiler's walk begins in an adapter between compiled and interpreted code, and loses frames there.
//!
//! An adapter (`SharedRuntime::generate_i2c2i_adapters`) jumps from its caller to the method that is called. It has no frame,
//! and moves the stack pointer, so neither the frame pointer nor the stack pointer leads to the caller's return address.
//! If the interpreter has called, the frame pointer is that of the caller, whose frame is skipped by a walker that goes by the
//! frame pointer. async-profiler does (`FrameDesc::default_frame` at the end of the loop of `StackWalker::walkVM`,
//! src/stackWalker.cpp), because the blob of adapters has no frame size.
//!
//! The proof is the program counter in the blob of adapters, and a walk that lacks frames of the top or of the bottom.

use super::cause::Cause;
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "adapter",
    meaning: "the walk begins in an adapter, which has no frame, and loses the caller",
    why: "The sample hits an adapter between compiled and interpreted code, which has no frame of its own. async-profiler goes on by the frame pointer, which is still that of the caller, so that the caller is skipped (FrameDesc::default_frame in StackWalker::walkVM, src/stackWalker.cpp).",
    sources: &[],
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: &[],
};

fn recognise(facts: &Facts<'_>) -> bool {
    let by_profiler = facts.case.proofs.by_profiler;
    let loses = facts.lacks_top() || facts.is_cut() || facts.case.lowest.is_none();
    by_profiler && facts.runs(CodeKind::Stub) && facts.case.proofs.is_in_adapter && loses
}
