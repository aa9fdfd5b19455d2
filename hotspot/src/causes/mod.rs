//! Why HotSpot's walkers return false stacks: one file for each known cause.
//!
//! A cause is a claim about the JVM. Each file says what the cause means, what proves it, how the evidence of a mismatch
//! shows it, and which program triggers it. `dev publish` writes a section of `docs/findings.md` from each. To add a
//! cause, add a file and a row in [`CAUSES`].

mod below_stub;
mod called_by_vm;
mod cause;
mod deoptimised_start;
mod extended_frame;
mod frame_removed;
mod frozen_frames;
mod interpreter_entry;
mod interpreter_frame;
mod leaf_call;
mod library_frames;
mod missing_pc;
mod moved_stack_pointer;
mod no_record;
mod own_hook;
mod signal_handler;
mod unexplained;
mod unsized_stub;
mod unwalkable_caller;
mod upcall_stub;

pub use cause::{Cause, Program, Source};

use crate::arch::Arch;
use crate::case::Case;
use oracle::record::CauseName;

/// The known causes. The cause of a mismatch is the first row that recognises the mismatch. The
/// last row recognises every mismatch.
pub static CAUSES: &[Cause] = &[
    no_record::CAUSE,
    own_hook::CAUSE,
    frozen_frames::CAUSE,
    called_by_vm::CAUSE,
    missing_pc::CAUSE,
    deoptimised_start::CAUSE,
    signal_handler::CAUSE,
    unsized_stub::CAUSE,
    frame_removed::CAUSE,
    moved_stack_pointer::CAUSE,
    below_stub::CAUSE,
    interpreter_frame::CAUSE,
    interpreter_entry::CAUSE,
    leaf_call::CAUSE,
    upcall_stub::CAUSE,
    extended_frame::CAUSE,
    unwalkable_caller::CAUSE,
    library_frames::CAUSE,
    unexplained::CAUSE,
];

impl Cause {
    /// The cause of a mismatch on processor `A`.
    pub fn of<A: Arch>(case: Case<'_>) -> &'static Cause {
        let all = Cause::all_of::<A>(case);
        all.first().copied().unwrap_or(&unexplained::CAUSE)
    }

    /// All known causes that recognise a mismatch on processor `A`, in the order of the table.
    pub fn all_of<A: Arch>(case: Case<'_>) -> Vec<&'static Cause> {
        let facts = case.facts::<A>();
        let (_, known) = CAUSES.split_last().expect("the table has rows");
        known
            .iter()
            .filter(|cause| (cause.recognise)(&facts))
            .collect()
    }

    /// The cause of this name, if this version knows it.
    pub fn named(name: &CauseName) -> Option<&'static Cause> {
        CAUSES.iter().find(|cause| cause.name == name.as_str())
    }
}

#[cfg(test)]
mod tests;
