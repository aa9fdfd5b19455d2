//! Mismatches by cause.

use hotspot::causes::Cause;
use oracle::Layer;
use oracle::record::{CauseName, Mismatch};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a cause is, in a few words; `docs/findings.md` has the rest.
pub(crate) fn meaning(cause: &CauseName) -> &'static str {
    match Cause::named(cause).unwrap_or(Cause::Unexplained) {
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
pub(crate) fn counted(all: &[Mismatch]) -> Vec<(Layer, &CauseName, u64)> {
    let mut counts: BTreeMap<(Layer, Option<Cause>, &CauseName), u64> = BTreeMap::new();
    for mismatch in all {
        if let Some(cause) = &mismatch.cause {
            let known = Cause::named(cause);
            *counts.entry((mismatch.layer, known, cause)).or_default() += 1;
        }
    }
    let counts = counts
        .into_iter()
        .map(|((layer, _, cause), n)| (layer, cause, n));
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|&(layer, _, n)| (layer, Reverse(n)));
    counts
}
