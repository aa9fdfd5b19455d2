//! `no-record`: the program counter lies in inlined code without a debug info record of its own.
//! The walker reports the inlined frames of another record, or none.

use super::cause::{Cause, Program};
use crate::capability::Capability;
use crate::case::Facts;
use oracle::Reason;

pub(super) const CAUSE: Cause = Cause {
    name: "no-record",
    meaning: "compiled code without a debug info record of its own",
    why: "Compiled code has debug info records only at some instructions. Between two of them the walker uses a neighbouring record: the physical frames are right, inlined frames are those of another place.",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: &[Program {
        note: "Inlined code, as the compilers make it without hooks.",
        fixture: "math-parser",
        hooks: "light",
        ..Program::USUAL
    }],
};

fn recognise(facts: &Facts<'_>) -> bool {
    is_without_record(facts) && !facts.case.is_hook_alone
}

/// Whether the walk shows inlined frames of another record, or none.
pub(super) fn is_without_record(facts: &Facts<'_>) -> bool {
    matches!(
        facts.case.reason,
        Reason::BetweenRecords | Reason::NextRecord | Reason::StartOfMethod
    )
}
