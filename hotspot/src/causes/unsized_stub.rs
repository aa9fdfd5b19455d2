//! `unsized-stub`: a profiler's walk comes to a stub whose frames have no known size, and loses frames there.
//!
//! The VM knows no frame size for many of its stubs: the adapters between compiled and interpreted code and those of method
//! handles, C1's type check (`Runtime1::slow_subtype_check_id`), the stubs of `StubRoutines`. An adapter jumps from its
//! caller to the method that is called, and moves the stack pointer (`SharedRuntime::generate_i2c2i_adapters`); a type check
//! pushes registers; the stub of entry barriers pushes them, and calls the VM without an anchor
//! (`StubGenerator::generate_method_entry_barrier`). So neither the frame pointer nor the stack pointer leads to the caller's
//! return address. A walker that goes by the frame pointer skips the caller. async-profiler does
//! (`FrameDesc::default_frame` at the end of the loop of `StackWalker::walkVM`, src/stackWalker.cpp).
//!
//! The proof is such a stub at the program counter, or at the address to which the frames of the library lead that runs, and a
//! walk that lacks frames of the top or of the bottom.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "unsized-stub",
    meaning: "the walk comes to a stub whose frames have no known size, and loses the caller",
    why: "The sample hits a stub of the VM without a frame size, as an adapter between compiled and interpreted code is, or a function that such a stub has called. async-profiler goes on by the frame pointer, which may still be that of the caller, so that the caller is skipped (FrameDesc::default_frame in StackWalker::walkVM, src/stackWalker.cpp).",
    sources: &[],
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
