//! `called-by-vm`: the walk ends below a method that the VM called.
//!
//! The frame below is a JavaCalls entry. From there the walkers do not find the Java frames that
//! the VM was called from.

use super::cause::{Cause, Program};
use crate::case::Facts;
use crate::runtime::is_called_by_vm;

pub(super) const CAUSE: Cause = Cause {
    name: "called-by-vm",
    meaning: "the walk ends below a method that the VM called",
    recognise,
    since: 0,
    programs: &[Program {
        note: "The VM calls constructors of exceptions.",
        fixture: "implicit-exceptions",
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    let lowest = facts.case.lowest;
    facts.is_cut() && lowest.is_some_and(is_called_by_vm)
}
