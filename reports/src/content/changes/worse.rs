//! What a build shows that is worse, each with its evidence: answers that no honest JVM gives, and false stacks over a budget.

use super::cells::command;
use super::common::common;
use crate::content::frames::stacks;
use crate::model::{Block, Finding};
use oracle::gate::{Broken, Cell, What};
use oracle::report::{Report, Run};
use oracle::{Layer, Verdict};
use std::collections::BTreeMap;

/// So many places of a kind are named.
pub(super) const NAMED: usize = 4;

/// An answer that no honest JVM gives.
pub(in crate::content) fn impossible(report: &Report, broken: &Broken) -> Finding {
    let mut blocks = vec![Block::Note(format!("why not: {}", broken.why))];
    if broken.places.len() > 1 {
        let places = broken
            .places
            .iter()
            .take(NAMED)
            .map(|(place, n)| format!("{n} × {place}"));
        blocks.push(Block::Note(places.collect::<Vec<_>>().join("; ")));
    }
    let run = report.runs.iter().find(|run| run.dir == broken.run);
    blocks.extend(run.map(|run| alone(report, run)));
    Finding::sure(format!("no honest JVM gives this answer: {broken}"), blocks)
}

/// False stacks of a layer, about which `text` says what is wrong, with an example.
pub(in crate::content) fn untrue(report: &Report, layer: Layer, text: String) -> Finding {
    let of_layer = || {
        let all = report.mismatches.iter();
        all.filter(|it| it.layer == layer && it.verdict != Verdict::Imprecise)
    };
    let mut blocks: Vec<Block> = common(report, of_layer()).into_iter().collect();
    let example = of_layer().next();
    blocks.extend(example.map(|mismatch| Block::Example(stacks(mismatch))));
    let run = example.and_then(|mismatch| report.run_of(mismatch));
    blocks.extend(run.map(|run| alone(report, run)));
    Finding::sure(text, blocks)
}

/// The states of threads and the kinds of code at which an error came most often.
pub(super) fn codes(report: &Report, cell: &Cell) -> Option<Block> {
    let (What::Error(code) | What::Refused(code)) = cell.what else {
        return None;
    };
    let refused = matches!(cell.what, What::Refused(_));
    let of_program = |run: &&Run| cell.is_of_all_programs() || run.title() == cell.program;
    let mut places = BTreeMap::<String, u64>::new();
    let runs = report.runs.iter().filter(of_program);
    for error in runs.flat_map(|run| &run.errors) {
        if error.layer == cell.layer && error.code == code && (error.intact || !refused) {
            *places
                .entry(format!("{}, {}", error.state, error.kind()))
                .or_default() += error.count;
        }
    }
    let mut places: Vec<(String, u64)> = places.into_iter().collect();
    places.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let shown = places
        .iter()
        .take(NAMED)
        .map(|(place, n)| format!("{n} × {place}"));
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| Block::Note(format!("it came at {}", shown.join("; "))))
}

/// The command that runs the program of `run` alone.
pub(super) fn alone(report: &Report, run: &Run) -> Block {
    Block::Alone(command(report, run))
}
