//! `missing-pc`: the walk of a profiler ends below a method that the VM called, because the anchor of the call has no program
//! counter.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "missing-pc",
    meaning: "the walk ends below a method that the VM called, because the anchor has no program counter",
    why: "The VM called this method, and kept the last Java frame of the caller without its program counter. async-profiler treats this as the end of the stack (JavaFrameAnchor::getFrame in src/vmStructs.h, called at the JavaCalls entry in StackWalker::walkVM, src/stackWalker.cpp). The return address lies right below the kept stack pointer.",
    sources: &[],
    proof: "A JavaCalls entry on the stack whose callee is the lowest method of the walk, and whose anchor has a stack pointer but no program counter.",
    notes: "Generated code that calls the VM mostly keeps no program counter (`MacroAssembler::set_last_Java_frame` without a label). `JavaFrameAnchor::make_walkable` takes it from the word below the stack pointer, and so does `JavaFrameAnchor::restoreFrame`, the next function of async-profiler's file.",
    recognise,
    needs: &[Capability::CodeCache, Capability::JavaCalls],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let by_profiler = facts.case.proofs.by_profiler;
    by_profiler && facts.is_cut() && facts.case.proofs.ends_without_pc
}
