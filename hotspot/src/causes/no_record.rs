//! `no-record` and `own-hook`: the program counter lies in inlined code without a debug info record of its own.
//! The walker reports the inlined frames of another record, or none.

use super::cause::{Cause, Program};
use crate::case::Facts;
use oracle::Reason;

pub(super) const CAUSE: Cause = Cause {
    name: "no-record",
    meaning: "compiled code without a debug info record of its own",
    recognise,
    since: 0,
    programs: &[Program {
        note: "Inlined code, as the compilers make it without hooks.",
        fixture: "math-parser",
        hooks: "light",
        ..Program::USUAL
    }],
};

/// The same, where the only false frames are hooks, which are not of the program.
pub(super) const OWN_HOOK: Cause = Cause {
    name: "own-hook",
    meaning: "a hook of Stackwitness, which does not run now, for want of a debug info record",
    recognise: recognise_hook,
    since: 0,
    programs: &[Program {
        note: "Light hooks are inlined, and the next record is often that of a hook.",
        fixture: "math-parser",
        hooks: "light",
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    is_without_record(facts) && !facts.case.is_hook_alone
}

fn recognise_hook(facts: &Facts<'_>) -> bool {
    is_without_record(facts) && facts.case.is_hook_alone
}

/// Whether the walk shows inlined frames of another record, or none.
fn is_without_record(facts: &Facts<'_>) -> bool {
    matches!(
        facts.case.reason,
        Reason::BetweenRecords | Reason::NextRecord | Reason::StartOfMethod
    )
}
