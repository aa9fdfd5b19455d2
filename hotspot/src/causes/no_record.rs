//! `no-record`: the program counter lies in inlined code without a debug info record of its own.
//! The walker reports the inlined frames of another record, or none.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;
use oracle::Reason;

pub(super) const CAUSE: Cause = Cause {
    name: "no-record",
    meaning: "compiled code without a debug info record of its own",
    why: "Compiled code has debug info records only at some instructions. Between two of them the walker uses a neighbouring record: the physical frames are right, inlined frames are those of another place.",
    sources: &[
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "is_decipherable_compiled_frame",
            fault: "Uses the next record in address order (`pc_desc_near(fr->pc() + 1)`), also if it belongs to another inlined call. Without `-XX:+DebugNonSafepoints` compiled code has records at calls, polls and implicit checks only.",
        },
        Source {
            file: "src/hotspot/share/runtime/vframe.inline.hpp",
            function: "vframeStreamCommon::fill_from_compiled_frame",
            fault: "Fills the frame in as that of a native method, with BCI 0 and without inlined frames, if no record follows.",
        },
    ],
    proof: "Both records around the program counter are read from the code cache. From the compiled method's own frame on, the walk must be right.",
    notes: "The verdict is `imprecise`, which is no mismatch: HotSpot promises no more unless `-XX:+DebugNonSafepoints` is given. Where the truth agrees with the record before the program counter, the inlined frames are a neighbour's. Where it agrees with neither, C2's inlined code runs without a record, and the next one belongs to another call, often to an uncommon path at the end of the method; or the thread runs a slow path behind the last record, such as a collector's barrier, mostly in C1's code. Light hooks show the cause, because they leave inlining as it is ([how often](results/walker.md#inlined-frames)).",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::ThreadStates,
    ],
    since: 0,
    programs: Ok(&[Program {
        note: "Inlined code, as the compilers make it without hooks.",
        fixture: "math-parser",
        hooks: "light",
        ..Program::USUAL
    }]),
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
