//! The JVM's own samplers and profilers: how many of their events were joined with what was true at their requests.

mod by_code;
mod counted;

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use counted::counted;
use oracle::record::JoinCounts;
use oracle::report::{Report, Run};

/// The joined events of each run that has such layers.
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let runs = report.runs.iter();
    let rows: Vec<_> = runs
        .flat_map(|run| run.joined.iter().map(move |joined| (run, joined)))
        .collect();
    let section = || Section {
        id: "joined",
        title: "Events of samplers",
        room: Room::Terminal,
        blocks: vec![
            Block::Table(table(&rows)),
            Block::Table(by_code::table(&rows)),
        ],
    };
    (!rows.is_empty()).then(section).into_iter()
}

fn table(rows: &[(&Run, &JoinCounts)]) -> Table {
    let mut table = Table::new([
        ("run", Words),
        ("layer", Words),
        ("events", Numbers),
        ("joined", Numbers),
        ("requests", Numbers),
        ("answered", Numbers),
        ("not copied", Numbers),
        ("lost", Numbers),
        ("failed", Numbers),
        ("said", Numbers),
        ("other threads", Numbers),
        ("early", Numbers),
        ("repeated", Numbers),
        ("in hooks", Numbers),
        ("given up", Numbers),
        ("biased", Words),
    ]);
    for (run, joined) in rows {
        let mut cells = vec![Cell::text(run.title()), Cell::text(joined.layer.name())];
        let numbers = [
            joined.events,
            joined.joined,
            joined.requests,
            joined.answered,
            joined.not_copied,
            joined.lost,
            joined.failed,
            joined.said,
            joined.other_threads,
            joined.early,
            joined.repeated,
            joined.in_hooks,
            joined.given_up,
        ];
        cells.extend(numbers.map(Cell::Count));
        cells.push(counted(&joined.biased));
        table.push(Tone::Plain, cells);
    }
    table
}
