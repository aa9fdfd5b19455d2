//! Verdicts in a cell.

use crate::model::Cell;
use std::collections::BTreeMap;

/// Verdicts with their numbers.
pub(super) fn counted(verdicts: &BTreeMap<String, u64>) -> Cell {
    let counts = verdicts.iter();
    let counts: Vec<_> = counts
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    Cell::text(if counts.is_empty() {
        "none".to_owned()
    } else {
        counts.join(", ")
    })
}
