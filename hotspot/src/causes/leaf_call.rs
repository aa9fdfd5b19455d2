//! `leaf-call`: generated code called a function of the VM or of another library without an anchor
//! to the last Java frame.

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
    facts.is_wrong() && facts.runs(CodeKind::Library)
}
