//! `interpreter-frame`: the interpreter has not built its frame yet, or has removed it.

use super::cause::{Cause, Program};
use crate::case::Facts;
use crate::code::CodeKind;

pub(super) const CAUSE: Cause = Cause {
    name: "interpreter-frame",
    meaning: "the interpreter's frame is not built yet, or removed",
    recognise,
    since: 0,
    programs: &[Program {
        note: "Code of C1 calls methods that are never compiled.",
        fixture: "huge-methods",
        jvm_args: &["-XX:TieredStopAtLevel=1"],
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.is_wrong() && facts.runs(CodeKind::Interpreter)
}
