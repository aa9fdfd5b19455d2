//! Which methods a walker counts too often or too rarely.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::Layer;
use oracle::bias::{Estimate, MethodBias, Summary};
use oracle::report::{Report, Run};

/// How many methods of a run and layer are shown.
const SHOWN: usize = 10;

/// The bias of each walker in each run where it was measured.
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let blocks: Vec<Block> = report.runs.iter().flat_map(of_run).collect();
    let section = || Section {
        id: "bias",
        title: "Hottest methods, the true and the claimed",
        room: Room::Terminal,
        blocks: blocks.clone(),
    };
    (!blocks.is_empty()).then(section).into_iter()
}

fn of_run(run: &Run) -> Vec<Block> {
    let pairs = run.bias.iter();
    let blocks = pairs.map(|(&layer, pairs)| of_layer(run, layer, &Summary::new(pairs)));
    blocks.flatten().collect()
}

fn of_layer(run: &Run, layer: Layer, summary: &Summary) -> Vec<Block> {
    let overlap = match summary.overlap {
        None => "no answer".to_owned(),
        Some(overlap) => format!("the profiles overlap by {:.2} %", 100.0 * overlap),
    };
    let rank = match summary.hottest_rank {
        None => "never named".to_owned(),
        Some(rank) => format!("number {rank}"),
    };
    let verdict = match summary.is_biased() {
        true => "biased",
        false => "no bias beyond chance",
    };
    let note = format!(
        "{} {}: {verdict}; {} of {} requests answered, {overlap}, the truly hottest method is {rank}",
        run.title(),
        layer.name(),
        summary.answered,
        summary.instants,
    );
    vec![Block::Note(note), Block::Table(table(summary))]
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
        let name = of.name.split('(').next().unwrap_or(&of.name);
        let cells = vec![
            Cell::text(name),
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
