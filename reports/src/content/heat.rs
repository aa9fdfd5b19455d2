//! The matrix of runs and layers as a heat map, and rates over repetitions.

use crate::model::Kind::{Drawings, Numbers, Words};
use crate::model::{Block, Cell, Column, Room, Section, Table, Tone};
use oracle::Layer;
use oracle::report::{LayerCounts, Report, title};
use std::collections::BTreeMap;

/// A row for each run, a column for each layer.
pub(super) fn runs_by_layer(report: &Report) -> Section {
    let mut table = Table::new([("run", Words), ("ended", Words)]);
    let of_layers = report.layers.iter().map(|counts| Column {
        name: counts.layer.name(),
        kind: Numbers,
    });
    table.columns.extend(of_layers);
    for run in &report.runs {
        let tone = match oracle::gate::trouble(run) {
            Some(_) => Tone::Bad,
            None => Tone::Plain,
        };
        let mut cells = vec![Cell::Text(run.title()), Cell::Text(super::runs::exit(run))];
        for column in &report.layers {
            let counts = run.layers.iter().find(|c| c.layer == column.layer);
            cells.push(counts.map_or(Cell::Absent, heat));
        }
        table.push(tone, cells);
    }
    Section {
        id: "heat",
        title: "Rates of runs by layer",
        room: Room::Page,
        blocks: vec![Block::Table(table)],
    }
}

fn heat(counts: &LayerCounts) -> Cell {
    let bound = Cell::Rate(counts.mismatch_upper95).plain();
    let title = format!(
        "{} mismatches in {} checks, upper bound {bound}",
        counts.tally().mismatches(),
        counts.checks,
    );
    Cell::Heat(counts.mismatch_rate, title)
}

/// Rates over repetitions of a run, if there are repetitions.
pub(super) fn trend(report: &Report) -> Option<Section> {
    let mut series: BTreeMap<(String, Layer), Vec<f64>> = BTreeMap::new();
    let runs = report.runs.iter();
    for run in runs.filter(|run| run.axes.contains_key("repetition")) {
        let mut axes = run.axes.clone();
        axes.remove("repetition");
        let title = title(&run.scenario, &axes);
        for counts in &run.layers {
            let rates = series.entry((title.clone(), counts.layer)).or_default();
            rates.extend(counts.mismatch_rate);
        }
    }
    series.retain(|_, rates| rates.len() > 1 && rates.iter().any(|&rate| rate > 0.0));
    let mut table = Table::new([
        ("run", Words),
        ("layer", Words),
        ("lowest", Numbers),
        ("highest", Numbers),
        ("over repetitions", Drawings),
    ]);
    for ((title, layer), rates) in series {
        let lowest = rates.iter().copied().reduce(f64::min);
        let highest = rates.iter().copied().reduce(f64::max);
        let cells = [
            Cell::Text(title),
            Cell::text(layer),
            Cell::Rate(lowest),
            Cell::Rate(highest),
            Cell::Line(rates),
        ];
        table.push(Tone::Plain, cells);
    }
    (!table.rows.is_empty()).then(|| Section {
        id: "trend",
        title: "Over repetitions",
        room: Room::Page,
        blocks: vec![Block::Table(table)],
    })
}
