//! Mismatches by cause.

use hotspot::causes::Cause;
use oracle::Layer;
use oracle::record::{CauseName, Mismatch};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a cause is, in a few words; `docs/findings.md` has the rest.
pub(crate) fn meaning(cause: &CauseName) -> &'static str {
    Cause::named(cause).map_or("not known to this version", |cause| cause.meaning)
}

/// How many of the mismatches written down point to each cause, by layer, the most frequent
/// first.
pub(crate) fn counted(all: &[Mismatch]) -> Vec<(Layer, &CauseName, u64)> {
    let mut counts: BTreeMap<(Layer, &CauseName), u64> = BTreeMap::new();
    for mismatch in all {
        if let Some(cause) = &mismatch.cause {
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
