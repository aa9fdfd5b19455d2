//! The checks of each run and layer.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::gate::{Decision, Standing};
use oracle::report::{LayerCounts, Report};

/// A row for each run and layer; then, if there are several runs, a row for each layer's sum.
/// Without checks there is no table, because an empty table hides why there are no checks.
pub(super) fn section(report: &Report, decided: &Decision) -> Option<Section> {
    if !report.layers.iter().any(|counts| counts.checks > 0) {
        return None;
    }
    let mut table = Table::new([
        ("run", Words),
        ("layer", Words),
        ("checks", Numbers),
        ("match", Numbers),
        ("by method", Numbers),
        ("by BCI", Numbers),
        ("window", Numbers),
        ("imprecise", Numbers),
        ("error", Numbers),
        ("truncated", Numbers),
        ("wrong", Numbers),
        ("unverifiable", Numbers),
        ("dropped", Numbers),
        ("rate", Numbers),
        ("upper95", Numbers),
    ]);
    let over = |counts: &LayerCounts| {
        let decision = decided.layer(counts.layer);
        decision.is_some_and(|layer| layer.standing == Standing::Over)
    };
    for run in &report.runs {
        for counts in &run.layers {
            // A run without mismatches is not marked.
            let bad = over(counts) && counts.tally().mismatches() > 0;
            let tone = if bad { Tone::Bad } else { Tone::Plain };
            table.push(tone, cells(run.title(), counts));
        }
    }
    if report.runs.len() > 1 {
        for counts in &report.layers {
            let tone = if over(counts) { Tone::Bad } else { Tone::Plain };
            table.push(tone, cells("sum".into(), counts));
        }
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(report.layers.iter().filter_map(flagged));
    Some(Section {
        id: "checks",
        title: "Checks",
        room: Room::Terminal,
        blocks,
    })
}

/// What a walker says of its own answers.
fn flagged(counts: &LayerCounts) -> Option<Block> {
    let LayerCounts { layer, flagged, .. } = counts;
    let asked = counts.checks - counts.dropped;
    let percent = 100.0 * *flagged as f64 / asked.max(1) as f64;
    (*flagged > 0).then(|| {
        Block::Note(format!(
            "{layer}: {flagged} answers ({percent:.2} % of the checks) say that inlined frames may be missing at their \
             top. The frames below are right. These answers count as unverifiable."
        ))
    })
}

fn cells(run: String, counts: &LayerCounts) -> [Cell; 15] {
    [
        Cell::Text(run),
        Cell::text(counts.layer),
        Cell::Count(counts.checks),
        Cell::Count(counts.matches),
        Cell::Rate(counts.compared.method_share()),
        Cell::Rate(counts.compared.bci_share()),
        Cell::Count(counts.window),
        Cell::Count(counts.imprecise),
        Cell::Count(counts.error.values().sum()),
        Cell::Count(counts.truncated),
        Cell::Count(counts.wrong),
        Cell::Count(counts.unverifiable),
        Cell::Count(counts.dropped),
        Cell::Rate(counts.mismatch_rate),
        Cell::Rate(counts.mismatch_upper95),
    ]
}
