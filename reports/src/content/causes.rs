//! Mismatches by cause.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Cell, Table, Tone};
use hotspot::causes::Cause;
use oracle::Layer;
use oracle::record::{CauseName, Mismatch};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The meaning of a cause, in a few words. `docs/findings.md` has more.
fn meaning(cause: &CauseName) -> &'static str {
    Cause::named(cause).map_or("not known to this version", |cause| cause.meaning)
}

/// A row for each layer and cause, the most frequent cause of a layer first.
pub(super) fn table(all: &[Mismatch]) -> Table {
    let mut counts: BTreeMap<(Layer, &CauseName), u64> = BTreeMap::new();
    for mismatch in all {
        if let Some(cause) = &mismatch.cause {
            *counts.entry((mismatch.layer, cause)).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&((layer, _), n)| (layer, Reverse(n)));
    let mut table = Table::new([
        ("layer", Words),
        ("cause", Words),
        ("examples kept", Numbers),
        ("meaning", Words),
    ]);
    for ((layer, cause), n) in counts {
        let cells = [
            Cell::text(layer),
            Cell::text(cause),
            Cell::Count(n),
            Cell::text(meaning(cause)),
        ];
        table.push(Tone::Plain, cells);
    }
    table
}
