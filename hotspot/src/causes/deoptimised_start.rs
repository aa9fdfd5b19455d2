//! `deoptimised-start`: a compiled frame that is to be deoptimised is reported at BCI 0, without its inlined frames.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "deoptimised-start",
    meaning: "a frame that is to be deoptimised is reported at BCI 0, without its inlined frames",
    why: "The return address of this frame leads to the deoptimisation handler, for which there is no debug info. async-profiler then reports the compiled method alone, at BCI 0 (NMethod::findScopeOffset in src/vmStructs.cpp, called in StackWalker::walkVM, src/stackWalker.cpp). The frame keeps its true program counter.",
    sources: &[],
    proof: "The address of the handler on the stack, and a frame of that method at BCI 0 where the stacks differ.",
    notes: "",
    recognise,
    needs: &[Capability::CodeCache, Capability::DebugInfo],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let by_profiler = facts.case.proofs.by_profiler;
    by_profiler && facts.case.proofs.is_deoptimised_at_start
}
