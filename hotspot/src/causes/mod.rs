//! Why HotSpot's walkers go wrong: one file for each known cause.
//!
//! A cause is a claim about the JVM. Each file says what the cause means, how the evidence of a
//! mismatch shows the cause, and which program makes it happen; `docs/findings.md` has a section
//! on each. To add a cause, add a file and a row in [`CAUSES`].

mod below_stub;
mod called_by_vm;
mod frame_removed;
mod frozen_frames;
mod interpreter_frame;
mod leaf_call;
mod moved_stack_pointer;
mod no_record;
mod unexplained;
mod unwalkable_caller;

use crate::arch::Arch;
use crate::case::{Case, Facts};
use oracle::record::CauseName;

/// The known causes. The first one that recognises a mismatch is its cause; the last one
/// recognises every mismatch.
pub static CAUSES: [Cause; 10] = [
    no_record::CAUSE,
    frozen_frames::CAUSE,
    called_by_vm::CAUSE,
    frame_removed::CAUSE,
    moved_stack_pointer::CAUSE,
    below_stub::CAUSE,
    interpreter_frame::CAUSE,
    leaf_call::CAUSE,
    unwalkable_caller::CAUSE,
    unexplained::CAUSE,
];

/// A known cause of mismatches.
#[derive(Debug)]
pub struct Cause {
    /// Its name in `report.json` and in the title of its section in `docs/findings.md`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// Whether the evidence of a mismatch shows this cause.
    pub recognise: fn(&Facts<'_>) -> bool,
    /// The first JDK that has what goes wrong; 0: every JDK.
    pub since: u32,
    /// Programs in which it appears.
    pub programs: &'static [Program],
}

/// A program of the fixtures, and how it runs to show a cause.
#[derive(Debug)]
pub struct Program {
    /// What tells several programs of one cause apart; empty where there is only one.
    pub variant: &'static str,
    /// Why the cause appears in the program: a sentence.
    pub note: &'static str,
    /// Name of the fixture.
    pub fixture: &'static str,
    /// How many seconds the program runs.
    pub seconds: u32,
    /// The name of the hooks' mode ([`oracle::Hooking`]).
    pub hooks: &'static str,
    /// Options for the JVM.
    pub jvm_args: &'static [&'static str],
}

impl Program {
    /// What programs have in common.
    const USUAL: Program = Program {
        variant: "",
        note: "",
        fixture: "",
        seconds: 6,
        hooks: "exact",
        jvm_args: &[],
    };
}

impl Cause {
    /// The cause of a mismatch on processor `A`.
    pub fn of<A: Arch>(case: Case<'_>) -> &'static Cause {
        let facts = case.facts::<A>();
        let [known @ .., unexplained] = &CAUSES;
        let mut known = known.iter();
        known
            .find(|cause| (cause.recognise)(&facts))
            .unwrap_or(unexplained)
    }

    /// The cause of this name, if this version knows such a cause.
    pub fn named(name: &CauseName) -> Option<&'static Cause> {
        CAUSES.iter().find(|cause| cause.name == name.as_str())
    }
}

impl From<&Cause> for CauseName {
    fn from(cause: &Cause) -> CauseName {
        CauseName::new(cause.name)
    }
}

#[cfg(test)]
mod tests;
