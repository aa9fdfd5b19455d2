//! What a build shows that is worse, each with its evidence: answers that no honest JVM gives, and false stacks over a budget.

use super::cells::command;
use super::common::common;
use crate::content::frames::stacks;
use crate::model::{Block, Finding};
use crate::numbers::count;
use oracle::Layer;
use oracle::gate::{Broken, Cell, What};
use oracle::record::Mismatch;
use oracle::report::{Report, Run};
use std::collections::BTreeMap;

/// So many places of a kind are named.
pub(super) const NAMED: usize = 4;

/// Answers that no honest JVM gives; those of one kind stand together, whatever their layers.
pub(in crate::content) fn impossible(report: &Report, broken: &[Broken]) -> Vec<Finding> {
    let kinds = broken.chunk_by(|one, next| one.never == next.never);
    kinds.filter_map(|kind| of_kind(report, kind)).collect()
}

/// An answer that no honest JVM gives, in one layer or more.
fn of_kind(report: &Report, kind: &[Broken]) -> Option<Finding> {
    let (first, others) = kind.split_first()?;
    let mut blocks = vec![Block::Note(format!("why not: {}", first.why))];
    let also = others
        .iter()
        .map(|other| format!("{} × in {}", count(other.count), other.layer));
    if !others.is_empty() {
        let also: Vec<String> = also.collect();
        blocks.push(Block::Note(format!("also {}", also.join(", "))));
    }
    if first.places.len() > 1 {
        let places = first.places.iter().take(NAMED);
        let places = places.map(|(place, n)| format!("{} × {place}", count(*n)));
        blocks.push(Block::Note(places.collect::<Vec<_>>().join("; ")));
    }
    let run = report.runs.iter().find(|run| run.dir == first.run);
    blocks.extend(run.map(|run| alone(report, run)));
    let text = format!("no honest JVM gives this answer: {first}");
    Some(Finding::sure(text, blocks))
}

/// False stacks of a layer, about which `text` says what is wrong, with an example of those that `is_meant`.
pub(in crate::content) fn untrue(
    report: &Report,
    layer: Layer,
    text: String,
    is_meant: impl Fn(&Mismatch) -> bool,
) -> Finding {
    let of_layer = || {
        let all = report.mismatches.iter();
        all.filter(|it| it.layer == layer && it.verdict.is_mismatch() && is_meant(it))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn one_kind_of_answer_stands_together_whatever_its_layers() {
        let broken = |layer, never, n| Broken {
            layer,
            never,
            why: "of the source",
            count: n,
            places: vec![],
            run: String::new(),
        };
        let all = [
            broken(Layer::AsgctSafepoint, "a stack without its top", 20),
            broken(Layer::AsgctAsync, "a stack without its top", 6),
            broken(Layer::AsgctAsync, "an error", 1),
        ];
        let found = impossible(&sample::report(), &all);
        let titles = found.iter().map(|finding| finding.title.as_str());
        let titles: Vec<&str> = titles.collect();
        let title = |rest| format!("no honest JVM gives this answer: {rest}");
        assert_eq!(
            titles,
            [
                title("asgct-safepoint: 20 × a stack without its top"),
                title("asgct-async: 1 × an error")
            ]
        );
        let is_other =
            |block: &Block| matches!(block, Block::Note(note) if note == "also 6 × in asgct-async");
        assert!(found[0].blocks.iter().any(is_other));
        assert!(!found[1].blocks.iter().any(is_other));
    }
}
