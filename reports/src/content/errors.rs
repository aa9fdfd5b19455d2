//! Errors of walkers: by code, and by the machine code that ran.

use crate::model::Kind::{Drawings, Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use hotspot::walkers::Walker;
use oracle::Layer;
use oracle::report::{Report, Run};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What an error code of a layer's walker means; empty where nobody knows.
fn meaning(layer: Layer, code: i32) -> &'static str {
    Walker::of(layer).map_or("", |walker| walker.meaning(code))
}

/// The codes of each layer, and the places of errors, where there are any.
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let codes = Section {
        id: "errors",
        title: "Error codes",
        room: Room::Page,
        blocks: vec![Block::Table(codes(report))],
    };
    let places = Section {
        id: "error-places",
        title: "Errors by code blob",
        room: Room::Summary,
        blocks: vec![Block::Table(places(&report.runs))],
    };
    let has_rows = |section: &Section| matches!(&section.blocks[..], [Block::Table(table)] if !table.rows.is_empty());
    [codes, places].into_iter().filter(has_rows)
}

fn codes(report: &Report) -> Table {
    let mut table = Table::new([
        ("layer", Words),
        ("code", Numbers),
        ("meaning", Words),
        ("checks", Numbers),
        ("", Drawings),
    ]);
    let layers = report.layers.iter();
    let most = layers.flat_map(|counts| counts.error.values()).max();
    let most = most.map_or(1.0, |&most| most as f64);
    for counts in &report.layers {
        for (&code, &n) in counts.error.iter().rev() {
            let cells = [
                Cell::text(counts.layer),
                Cell::text(code),
                Cell::text(meaning(counts.layer, code)),
                Cell::Count(n),
                Cell::Bar(n as f64 / most),
            ];
            table.push(Tone::Plain, cells);
        }
    }
    table
}

/// In which code the walker gave errors, in all runs, the most frequent first.
fn places(runs: &[Run]) -> Table {
    let mut sums = BTreeMap::new();
    for error in runs.iter().flat_map(|run| &run.errors) {
        let kind = (error.layer, Reverse(error.code), &error.state, error.kind());
        *sums.entry(kind).or_default() += error.count;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(_, count)| Reverse(count));
    let mut table = Table::new([
        ("layer", Words),
        ("code", Numbers),
        ("meaning", Words),
        ("thread", Words),
        ("code blob or library", Words),
        ("checks", Numbers),
    ]);
    for ((layer, Reverse(code), state, place), count) in sums {
        let cells = [
            Cell::text(layer),
            Cell::text(code),
            Cell::text(meaning(layer, code)),
            Cell::text(state),
            Cell::Code(place),
            Cell::Count(count),
        ];
        table.push(Tone::Plain, cells);
    }
    table.cut = true;
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up() {
        let table = places(&crate::sample::report().runs);
        let counts: Vec<_> = table
            .rows
            .iter()
            .map(|row| [&row.cells[1], &row.cells[5]].map(Cell::plain))
            .collect();
        assert_eq!(counts, [["-3", "28"], ["-5", "24"], ["-5", "12"]]);
    }

    #[test]
    fn each_walker_has_its_own_codes() {
        assert_eq!(meaning(Layer::Gst, -10), "no valid thread");
        assert_eq!(meaning(Layer::AsgctAsync, -10), "safepoint");
    }
}
