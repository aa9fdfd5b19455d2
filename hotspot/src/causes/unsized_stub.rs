//! `unsized-stub`: a profiler's walk comes to a stub whose frames have no known size, and loses frames there.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "unsized-stub",
    meaning: "the walk comes to a stub whose frames have no known size, and loses the caller",
    why: "The sample hits a stub of the VM without a frame size, as an adapter between compiled and interpreted code is, or a function that such a stub has called. async-profiler goes on by the frame pointer, which may still be that of the caller, so that the caller is skipped (FrameDesc::default_frame in StackWalker::walkVM, src/stackWalker.cpp).",
    sources: &[],
    proof: "Such a stub at the program counter, or at the address to which the frames of the running library lead, and a walk that lacks frames of the top or of the bottom.",
    notes: "The VM knows no frame size for adapters between compiled and interpreted code (`SharedRuntime::generate_i2c2i_adapters`) and those of method handles, for C1's type check, which pushes registers, and for the stub of entry barriers, which calls the VM without an anchor (`StubGenerator::generate_method_entry_barrier`). An interpreted caller is skipped; behind compiled callers the walk mostly ends.",
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let proofs = facts.case.proofs;
    let loses = facts.lacks_top() || facts.is_cut() || facts.case.lowest.is_none();
    proofs.by_profiler && proofs.is_in_unsized_stub && loses
}
