//! The hottest methods of each profiler: how often each ran, and how often it was named.

use super::super::names;
use super::rows::{Row, short};
use crate::model::Kind::Words;
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::bias::{Estimate, MethodBias, Summary};

/// How many methods of a run and sampler are shown.
const SHOWN: usize = 10;

/// The methods of all profilers.
pub(super) fn section(rows: &[Row<'_>]) -> Section {
    Section {
        id: "bias",
        title: "Hottest methods, the true and the claimed",
        room: Room::Page,
        blocks: rows.iter().flat_map(of_sampler).collect(),
    }
}

fn of_sampler(row: &Row<'_>) -> [Block; 2] {
    let (summary, run) = (&row.summary, row.run.title());
    let verdict = if summary.is_biased() {
        "biased"
    } else {
        "no bias beyond chance"
    };
    let (title, answered, instants) = (
        names::of_sampler(row.run, row.sampler),
        summary.answered,
        summary.instants,
    );
    let note = format!("{run}: {title}: {verdict}; {answered} of {instants} instants answered");
    [Block::Note(note), Block::Table(table(summary))]
}

fn table(summary: &Summary) -> Table {
    let mut table = Table::new([
        ("method", Words),
        ("true", Words),
        ("claimed", Words),
        ("bias, in points (95 %)", Words),
        ("by instants", Words),
        ("by names", Words),
        ("certain", Words),
    ]);
    let claimed = |claimed: u64| 100.0 * claimed as f64 / summary.answered.max(1) as f64;
    // The hottest methods, and the others that are certainly counted falsely.
    let is_shown = |(at, of): &(usize, &MethodBias)| *at < SHOWN || of.is_certain;
    let methods = summary.methods.iter().enumerate().filter(is_shown);
    for (_, of) in methods.take(2 * SHOWN) {
        let certain = match (of.is_misnamed, of.is_certain) {
            (true, _) => "yes, by names",
            (false, true) => "yes, by instants",
            (false, false) => "no",
        };
        let cells = vec![
            Cell::text(short(&of.name)),
            Cell::text(format!("{:.2} %", 100.0 * of.true_share)),
            Cell::text(format!("{:.2} %", claimed(of.claimed))),
            Cell::text(points(of.total)),
            Cell::text(points(of.instant)),
            Cell::text(points(of.naming)),
            Cell::text(certain),
        ];
        table.push(Tone::Plain, cells);
    }
    table
}

/// A difference of shares in percentage points, with its interval.
fn points(of: Estimate) -> String {
    let Estimate { value, low, high } = of;
    let [value, low, high] = [value, low, high].map(|share| 100.0 * share);
    format!("{value:+.2} ({low:+.2} to {high:+.2})")
}
