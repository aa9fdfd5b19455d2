//! `leaf-call`: generated code called a function of the VM or of another library without an anchor
//! to the last Java frame.
//!
//! The proof is the return address into the generated code, behind a call to a library: it lies
//! below the frame to which the frame pointer leads. So the frame pointer belongs to an older
//! frame, with which the walk continues.

use super::cause::{Cause, Program};
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "leaf-call",
    meaning: "a function of a library, without an anchor",
    recognise,
    since: 0,
    programs: &[Program {
        note: "Methods that are never compiled call the VM.",
        fixture: "huge-methods",
        jvm_args: &["-XX:TieredStopAtLevel=1"],
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    let is_leaf_call = facts.case.proofs.is_leaf_call && facts.runs(CodeKind::Library);
    facts.is_wrong() && is_leaf_call && !facts.is_of_bci()
}
