//! Which methods a walker counts too often or too rarely.

mod profilers;

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use hotspot::walkers::Walker;
use oracle::bias::{Estimate, MethodBias, Sampler, Summary};
use oracle::report::{Report, Run};
use profilers::Row;

/// How many methods of a run and sampler are shown.
const SHOWN: usize = 10;

/// What profiles are worth: all profilers side by side, then the methods of each.
pub(super) fn sections(report: &Report) -> Vec<Section> {
    let rows: Vec<Row<'_>> = report.runs.iter().flat_map(of_run).collect();
    if rows.is_empty() {
        return vec![];
    }
    let methods = Section {
        id: "bias",
        title: "Hottest methods, the true and the claimed",
        room: Room::Page,
        blocks: rows.iter().flat_map(of_sampler).collect(),
    };
    vec![profilers::section(report, &rows), methods]
}

fn of_run(run: &Run) -> impl Iterator<Item = Row<'_>> {
    run.bias.iter().map(move |(&sampler, pairs)| Row {
        run,
        sampler,
        summary: Summary::new(pairs),
    })
}

/// The sampler in a sentence.
fn title(sampler: Sampler) -> &'static str {
    match sampler {
        Sampler::Walker(layer) => Walker::of(layer).map_or(layer.name(), |walker| walker.title),
        Sampler::Safepoint => "GetStackTrace at the next safepoint",
    }
}

/// A method without its descriptor.
fn short(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

fn of_sampler(row: &Row<'_>) -> [Block; 2] {
    let (summary, run) = (&row.summary, row.run.title());
    let verdict = match summary.is_biased() {
        true => "biased",
        false => "no bias beyond chance",
    };
    let (title, answered, instants) = (title(row.sampler), summary.answered, summary.instants);
    let note = format!("{run}: {title}: {verdict}; {answered} of {instants} instants answered");
    [Block::Note(note), Block::Table(table(summary))]
}

fn table(summary: &Summary) -> Table {
    let mut table = Table::new([
        ("method", Words),
        ("true", Numbers),
        ("claimed", Numbers),
        ("bias, in points (95 %)", Words),
        ("by instants", Words),
        ("by names", Words),
        ("certain", Words),
    ]);
    // The hottest methods, and the others that are certainly counted falsely.
    let is_shown = |(at, of): &(usize, &MethodBias)| *at < SHOWN || of.is_certain;
    let methods = summary.methods.iter().enumerate().filter(is_shown);
    for (_, of) in methods.take(2 * SHOWN) {
        let certain = match of.is_certain {
            true => "yes",
            false => "no",
        };
        let cells = vec![
            Cell::text(short(&of.name)),
            Cell::Count(of.truth),
            Cell::Count(of.claimed),
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
