//! `interpreter-entry`: a profiler's walk ends at the method that the interpreter is about to enter.
//!
//! The entry of an interpreted method takes the return address off the stack, makes room for the locals, and builds the frame
//! then (`TemplateInterpreterGenerator::generate_normal_entry`). Until then the frame pointer is that of the caller.
//! async-profiler reports the method of the entry at BCI 0 and goes on from what lies at the stack pointer, or at the caller's
//! frame pointer (`depth == 0` in `StackWalker::walkVM`, src/stackWalker.cpp). Where that is no return address into code that
//! it knows, the walk ends without a mark.
//!
//! The proof is the program counter in the entry, before the frame is linked, and a walk that lacks the bottom.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;
use crate::proofs::InterpreterFrame;

pub(super) const CAUSE: Cause = Cause {
    name: "interpreter-entry",
    meaning: "the walk ends at the method that the interpreter is about to enter",
    why: "The sample hits the entry of an interpreted method, whose frame is not built. async-profiler reports the method and takes the next word of the stack for its return address, which it is not (the branch `depth == 0` for interpreted frames in StackWalker::walkVM, src/stackWalker.cpp). The walk ends there without a mark.",
    sources: &[],
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::Interpreter,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: Err(OF_PROFILERS),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let by_profiler = facts.case.proofs.by_profiler;
    let is_not_built = facts.case.proofs.interpreter == InterpreterFrame::NotBuilt;
    by_profiler && facts.runs(CodeKind::Interpreter) && is_not_built && facts.is_cut()
}
