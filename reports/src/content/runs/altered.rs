//! Walks from contexts that were altered at random: how many, and where the walker did not survive.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::record::altered::{AlteredWalks, LayerWalks, UnfinishedWalk};
use oracle::report::{Report, Run};

/// A row for each walker of each run, and what was altered for the walks that did not end.
pub(in crate::content) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let runs: Vec<_> = altered(report).collect();
    let mut table = Table::new([
        ("run", Words),
        ("layer", Words),
        ("altered walks", Numbers),
        ("with frames", Numbers),
        ("longest, µs", Numbers),
        ("over 1 ms", Numbers),
        ("errors", Words),
    ]);
    for (run, walks) in &runs {
        for of in &walks.layers {
            table.push(tone(walks, of), row(run, of));
        }
    }
    let unfinished = runs.iter().filter_map(|(run, walks)| {
        let unfinished = walks.unfinished.as_ref()?;
        Some(Block::Note(ended_in(run, unfinished)))
    });
    let blocks = [Block::Table(table)]
        .into_iter()
        .chain(unfinished)
        .collect();
    let section = || Section {
        id: "altered",
        title: "Walks from altered contexts",
        room: Room::Terminal,
        blocks,
    };
    (!runs.is_empty()).then(section).into_iter()
}

fn altered(report: &Report) -> impl Iterator<Item = (&Run, &AlteredWalks)> {
    let runs = report.runs.iter();
    runs.filter_map(|run| Some((run, run.altered.as_ref()?)))
}

fn tone(walks: &AlteredWalks, of: &LayerWalks) -> Tone {
    let unfinished = walks.unfinished.as_ref();
    if unfinished.is_some_and(|unfinished| unfinished.layer == of.layer) {
        Tone::Bad
    } else {
        Tone::Plain
    }
}

fn row(run: &Run, of: &LayerWalks) -> [Cell; 7] {
    let errors = of.errors.iter().rev();
    let errors: Vec<_> = errors.map(|(code, n)| format!("{code}: {n}")).collect();
    [
        Cell::Text(run.title()),
        Cell::text(of.layer),
        Cell::Count(of.walks),
        Cell::Count(of.answers),
        Cell::Number(Some(of.longest_ns as f64 / 1e3), 1),
        Cell::Count(of.slow),
        Cell::Text(errors.join(", ")),
    ]
}

fn ended_in(run: &Run, walk: &UnfinishedWalk) -> String {
    let changes = walk.changes.iter().map(|change| {
        let (place, before, after) = (&change.place, change.before, change.after);
        format!("{place} from {before} to {after}")
    });
    let changes: Vec<_> = changes.collect();
    format!(
        "{}: {}, in a walk of {} from a context with {}",
        run.title(),
        super::exit(run),
        walk.layer,
        changes.join(", then ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::Layer;
    use oracle::record::Address;
    use oracle::record::altered::{Alteration, Change};
    use std::collections::BTreeMap;

    #[test]
    fn a_walk_that_did_not_end_is_told() {
        let mut report = crate::sample::report();
        assert_eq!(sections(&report).count(), 0);
        report.runs[0].altered = Some(AlteredWalks {
            layers: vec![LayerWalks {
                layer: Layer::AsgctAsync,
                walks: 10,
                answers: 4,
                errors: BTreeMap::from([(-3, 5), (-5, 1)]),
                longest_ns: 12_345,
                slow: 0,
                alterations: BTreeMap::new(),
            }],
            unfinished: Some(UnfinishedWalk {
                layer: Layer::AsgctAsync,
                changes: vec![Change {
                    place: "rsp".into(),
                    how: Alteration::Bit,
                    before: Address(0x10),
                    after: Address(0x18),
                }],
            }),
        });
        let section = sections(&report).next().expect("there are walks");
        let [Block::Table(table), Block::Note(note)] = &section.blocks[..] else {
            panic!("a table and a note");
        };
        let cells: Vec<_> = table.rows[0].cells[1..].iter().map(Cell::plain).collect();
        assert_eq!(
            cells,
            ["asgct-async", "10", "4", "12.3", "0", "-3: 5, -5: 1"]
        );
        assert!(
            note.ends_with("in a walk of asgct-async from a context with rsp from 0x10 to 0x18"),
            "{note}"
        );
    }
}
