//! What is new since the baseline: each kind with an example, what it means, and the command that
//! shows it alone.

use super::cells::{command, example, examples, meaning};
use super::common::common;
use super::worse::codes;
use crate::content::frames::stacks;
use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::gate::{Against, Alarm, Change, Decision, Finding};
use oracle::outcome::Outcome;
use oracle::report::Report;

/// So many kinds have an example; the others are named.
const EXAMPLES: usize = 4;

/// The first line of every rendering: what is new, or what would have been seen.
pub(in crate::content) fn headline(decided: &Decision) -> Option<String> {
    let against = decided.against.as_ref()?;
    if decided.outcome != Outcome::Within {
        return decided.reasons.first().map(|reason| reason.text.clone());
    }
    let runs = against.runs;
    Some(format!(
        "nothing is worse than in the {runs} runs of the baseline"
    ))
}

/// What is worse, what is better, and what could have been seen.
pub(in crate::content) fn sections(report: &Report, against: &Against) -> Vec<Section> {
    let findings = against.findings();
    let (worse, better): (Vec<_>, Vec<_>) = findings
        .iter()
        .partition(|finding| finding.first.alarm.is_worse());
    let mut blocks = vec![];
    for (at, finding) in worse.iter().enumerate() {
        blocks.push(Block::Note(told(finding)));
        if at < EXAMPLES {
            blocks.extend(shown(report, finding.first));
        }
    }
    let better = better
        .iter()
        .map(|finding| Block::Note(finding.to_string()));
    let section = |id, title, blocks| Section {
        id,
        title,
        room: Room::Terminal,
        blocks,
    };
    let all = [
        section("new", "New since the baseline", blocks),
        section("better", "Rarer than in the baseline", better.collect()),
        section(
            "power",
            "What would have failed",
            vec![Block::Table(powers(against))],
        ),
    ];
    all.into_iter()
        .filter(|section| !section.blocks.is_empty())
        .collect()
}

fn told(finding: &Finding<'_>) -> String {
    let change = finding.first;
    let (k, n) = change.base;
    let before = match change.alarm {
        Alarm::New => String::new(),
        Alarm::Rose | Alarm::Fell => format!("; the baseline has {k} in {n}, {} runs", change.runs),
    };
    let more = match finding.others.len() {
        0 => String::new(),
        more => format!("; {more} more cells of the kind changed"),
    };
    format!("{finding}{before}{more}")
}

/// The meaning of a change, an example, and the command that shows it alone.
fn shown(report: &Report, change: &Change) -> Vec<Block> {
    let mut blocks: Vec<Block> = meaning(&change.cell).into_iter().collect();
    blocks.extend(codes(report, &change.cell));
    blocks.extend(common(report, examples(report, &change.cell)));
    let example = example(report, &change.cell);
    let example_run = example.and_then(|mismatch| report.run_of(mismatch));
    blocks.extend(example.map(|mismatch| Block::Example(stacks(mismatch))));
    let program = if change.cell.is_of_all_programs() {
        change.programs.first().map(|(name, _)| name.as_str())
    } else {
        Some(change.cell.program.as_str())
    };
    let run = example_run.or_else(|| {
        report
            .runs
            .iter()
            .find(|run| Some(run.title().as_str()) == program)
    });
    blocks.extend(run.map(|run| Block::Alone(command(report, run))));
    blocks
}

/// Each cell that changed, the worse ones first.
pub(in crate::content) fn cells(against: &Against) -> Option<Section> {
    let mut table = Table::new([
        ("program", Words),
        ("layer", Words),
        ("what", Words),
        ("at", Words),
        ("change", Words),
        ("new", Numbers),
        ("of", Numbers),
        ("baseline", Numbers),
        ("of", Numbers),
    ]);
    for change in &against.changes {
        let (tone, alarm) = match change.alarm {
            Alarm::New => (Tone::Bad, "new"),
            Alarm::Rose => (Tone::Bad, "more"),
            Alarm::Fell => (Tone::Good, "less"),
        };
        let program = if change.cell.is_of_all_programs() {
            "all"
        } else {
            &change.cell.program
        };
        let cells = [
            Cell::text(program),
            Cell::text(change.cell.layer),
            Cell::text(&change.cell.what),
            Cell::Text(change.cell.place.clone().unwrap_or_default()),
            Cell::text(alarm),
            Cell::Count(change.new.0),
            Cell::Count(change.new.1),
            Cell::Count(change.base.0),
            Cell::Count(change.base.1),
        ];
        table.push(tone, cells);
    }
    (!table.rows.is_empty()).then(|| Section {
        id: "cells",
        title: "Cells that changed",
        room: Room::Terminal,
        blocks: vec![Block::Table(table)],
    })
}

/// A row for each layer.
fn powers(against: &Against) -> Table {
    let mut table = Table::new([
        ("layer", Words),
        ("checks", Numbers),
        ("minutes", Numbers),
        ("false stacks of a new kind", Numbers),
        ("of the commonest known kind", Numbers),
    ]);
    for power in &against.powers {
        let cells = [
            Cell::text(power.layer),
            Cell::Count(power.checks),
            Cell::Number(Some(power.seconds / 60.0), 1),
            Cell::Rate(Some(power.new_kind)),
            Cell::Rate(Some(power.known_kind)),
        ];
        table.push(Tone::Plain, cells);
    }
    table
}
