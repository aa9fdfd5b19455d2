//! Mismatches by cause.

use oracle::Layer;
use oracle::cause::Cause;
use oracle::record::Mismatch;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a cause is, in a few words; `docs/findings.md` has the rest.
pub(crate) fn meaning(cause: Cause) -> &'static str {
    match cause {
        Cause::CalledByVm => "the walk ends below a method that the VM called",
        Cause::UnwalkableCaller => "the walk ends at a caller that it refuses",
        Cause::BelowStub => "the debug record behind a call that is under way",
        Cause::InterpreterFrame => "the interpreter's frame is not built yet, or removed",
        Cause::FrameRemoved => "compiled code has removed its frame, and is about to return",
        Cause::LeafCall => "a function of a library, without an anchor",
        Cause::NoRecord => "compiled code without a debug record of its own",
        Cause::MovedStackPointer => "compiled code has moved its stack pointer",
        Cause::FrozenFrames => "a virtual thread's callers, still in the heap",
        Cause::Unexplained => "none of the known ones",
    }
}

/// How many of the mismatches written down point to each cause, by layer, the most frequent
/// first.
pub(crate) fn counted(all: &[Mismatch]) -> Vec<(Layer, Cause, u64)> {
    let mut counts: BTreeMap<(Layer, Cause), u64> = BTreeMap::new();
    for mismatch in all {
        if let Some(cause) = mismatch.cause {
            *counts.entry((mismatch.layer, cause)).or_default() += 1;
        }
    }
    let counts = counts
        .into_iter()
        .map(|((layer, cause), n)| (layer, cause, n));
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|&(layer, _, n)| (layer, Reverse(n)));
    counts
}
