//! The requests of samplers by the code that ran at them.

use super::counted::counted;
use crate::model::Kind::{Numbers, Words};
use crate::model::{Cell, Table, Tone};
use oracle::record::{CodeCounts, JoinCounts};
use oracle::report::Run;
use oracle::{Layer, Verdict};
use std::cmp::Reverse;

/// One row for each kind of code of a run, the most frequent first.
pub(super) fn table(joined: &[(&Run, &JoinCounts)]) -> Table {
    let mut table = Table::new([
        ("code at the request", Words),
        ("run", Words),
        ("layer", Words),
        ("instructions", Numbers),
        ("match", Numbers),
        ("window", Numbers),
        ("imprecise", Numbers),
        ("truncated", Numbers),
        ("wrong", Numbers),
        ("unverifiable", Numbers),
        ("no answer", Numbers),
        ("biased", Words),
    ]);
    for (run, joined) in joined {
        let mut codes: Vec<_> = joined.codes.iter().collect();
        codes.sort_by_key(|(_, counts)| Reverse(events(counts)));
        for (code, counts) in codes {
            table.push(Tone::Plain, cells(run, joined.layer, code, counts));
        }
    }
    table
}

fn cells(run: &Run, layer: Layer, code: &str, counts: &CodeCounts) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Code(code.to_owned()),
        Cell::text(run.title()),
        Cell::text(layer.name()),
        Cell::Count(counts.instructions),
    ];
    let verdicts = [
        Verdict::Match,
        Verdict::Window,
        Verdict::Imprecise,
        Verdict::Truncated,
        Verdict::Wrong,
        Verdict::Unverifiable,
        Verdict::Error(0),
    ];
    let of = |verdict: Verdict| counts.verdicts.get(verdict.name()).copied().unwrap_or(0);
    cells.extend(verdicts.map(|verdict| Cell::Count(of(verdict))));
    cells.push(counted(&counts.biased));
    cells
}

fn events(counts: &CodeCounts) -> u64 {
    counts.verdicts.values().chain(counts.biased.values()).sum()
}
