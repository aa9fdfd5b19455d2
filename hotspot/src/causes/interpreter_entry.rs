//! `interpreter-entry`: a profiler's walk ends at the method that the interpreter is about to enter.

use super::cause::{Cause, OF_PROFILERS};
use crate::capability::Capability;
use crate::case::Facts;
use crate::code::CodeKind;
use crate::proofs::InterpreterFrame;

pub(super) const CAUSE: Cause = Cause {
    name: "interpreter-entry",
    meaning: "the walk ends at the method that the interpreter is about to enter",
    why: "The sample hits the entry of an interpreted method, whose frame is not built. async-profiler reports the method and uses the next word of the stack as its return address, which it is not (the branch `depth == 0` for interpreted frames in StackWalker::walkVM, src/stackWalker.cpp). A walk that ends there with a mark (`break_stack_range`) is said to be cut, and not false.",
    sources: &[],
    proof: "The program counter in the entry, before the frame is linked, and a walk that lacks the bottom.",
    notes: "The entry pops the return address, makes room for the locals and then builds the frame (`TemplateInterpreterGenerator::generate_normal_entry`). The walk has one frame, the method that is called, at BCI 0.",
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
