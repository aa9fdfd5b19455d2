//! `own-hook`: as `no-record`, but the only false frames are hooks, which are not of the program.

use super::cause::{Cause, Program};
use super::no_record::is_without_record;
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "own-hook",
    meaning: "a hook of Stackwitness that does not run now, because a debug info record is missing",
    why: "Between two debug info records the walker names a hook of Stackwitness that is inlined there and does not run now. The frames of the program are right.",
    sources: &[],
    proof: "The only false frames, all at the top, are methods of `java.lang.StackwitnessTrace`.",
    notes: "Compilers inline light hooks, and the next record is often that of a hook. Inlined frames of the program may be missing. Reports count these stacks apart, so that `no-record` has only stacks whose program frames are wrong.",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "Light hooks are inlined, and the next record is often that of a hook.",
        fixture: "math-parser",
        hooks: "light",
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    is_without_record(facts) && facts.case.is_hook_alone
}
