//! Mismatches: by cause, by kind with examples, and by the code that ran.

use super::frames::{signature, stacks};
use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Document, Group, Groups, Room, Section, Table, Tone};
use crate::render::{Style, text};
use oracle::Layer;
use oracle::gate::{Decision, Subject};
use oracle::record::Mismatch;
use oracle::report::Report;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many examples of a kind the model keeps.
const EXAMPLES: usize = 3;

/// How many mismatches are shown as evidence against a layer.
const EVIDENCE: usize = 3;

/// All mismatches in the report; those of known issues last.
pub(super) fn section(report: &Report, decided: &Decision, source: &str) -> Section {
    let all = &report.mismatches;
    let mut blocks = vec![];
    if all.is_empty() {
        blocks.push(Block::Note("No example of a mismatch was kept.".into()));
    } else {
        let n = all.len();
        blocks.push(Block::Note(format!(
            "Written down, with both stacks, in {source}: {n}."
        )));
        let causes = super::causes::table(all);
        if !causes.rows.is_empty() {
            blocks.push(Block::Table(causes));
        }
        let flagged = all.iter().zip(&decided.is_known);
        let (known, new): (Vec<_>, Vec<_>) = flagged.partition(|(_, known)| **known);
        let of = |part: Vec<(_, &bool)>| part.into_iter().map(|(m, _)| m).collect::<Vec<_>>();
        blocks.push(kinds(&of(new), true));
        if !known.is_empty() {
            blocks.push(Block::Note("Of known issues:".into()));
            blocks.push(kinds(&of(known), false));
        }
    }
    Section {
        id: "mismatches",
        title: "Mismatches",
        room: Room::Terminal,
        blocks,
    }
}

/// Groups by `key`, the largest group first.
fn grouped<'a>(
    all: &[&'a Mismatch],
    key: impl Fn(&Mismatch) -> String,
) -> Vec<(String, Vec<&'a Mismatch>)> {
    let mut groups: BTreeMap<String, Vec<&Mismatch>> = BTreeMap::new();
    for mismatch in all {
        groups.entry(key(mismatch)).or_default().push(mismatch);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, of_group)| Reverse(of_group.len()));
    groups
}

/// Mismatches by reason, and within a reason by the first method that differs. The layers on which
/// others rest come first.
fn kinds(all: &[&Mismatch], open: bool) -> Block {
    let found = |m: &Mismatch| format!("{} {}: {}", m.layer, m.verdict.name(), m.reason);
    let mut groups = grouped(all, found);
    groups.sort_by_key(|(_, of_reason)| of_reason.first().map(|m| !m.layer.checks_a_truth()));
    let groups = groups.into_iter().map(|(title, of_reason)| Group {
        count: Some(of_reason.len() as u64),
        blocks: vec![places_of(&of_reason)],
        title,
        open,
    });
    Block::Groups(Groups {
        groups: groups.collect(),
        cut: false,
    })
}

fn places_of(all: &[&Mismatch]) -> Block {
    let place = |m: &Mismatch| {
        let signature = signature(m);
        signature
            .rsplit(" at ")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let groups = grouped(all, place).into_iter().map(|(title, of_place)| {
        let examples = of_place.iter().take(EXAMPLES);
        Group {
            count: Some(of_place.len() as u64),
            title,
            open: false,
            blocks: examples.map(|m| Block::Stacks(stacks(m))).collect(),
        }
    });
    Block::Groups(Groups {
        groups: groups.collect(),
        cut: true,
    })
}

/// Where the program counter was in mismatches.
pub(super) fn places(report: &Report) -> Option<Section> {
    let mut places: BTreeMap<&str, u64> = BTreeMap::new();
    for code in report
        .mismatches
        .iter()
        .filter_map(|m| m.evidence.code.as_ref())
    {
        // Offsets and addresses differ in each sample.
        let blob = code.split(" +").next().unwrap_or(code);
        *places.entry(blob).or_default() += 1;
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|&(_, n)| Reverse(n));
    let mut table = Table::new([("code blob", Words), ("mismatches", Numbers)]);
    table.cut = true;
    for (place, n) in places {
        table.push(Tone::Plain, [Cell::Code(place.into()), Cell::Count(n)]);
    }
    (!table.rows.is_empty()).then(|| Section {
        id: "places",
        title: "Mismatches by code blob",
        room: Room::Page,
        blocks: vec![Block::Table(table)],
    })
}

/// The first of these mismatches, with both stacks, as text.
pub(super) fn examples<'a>(mismatches: impl Iterator<Item = &'a Mismatch>) -> String {
    let shown = mismatches.take(EVIDENCE);
    let shown = shown.map(|mismatch| "\n".to_owned() + &crate::render::stacks(&stacks(mismatch)));
    shown.collect()
}

/// Why a layer did not pass, as text: its decision, all reasons, and the first mismatches with
/// both stacks.
pub fn evidence(report: &Report, decided: &Decision, layer: Layer) -> String {
    let of_layer = super::decision::layers(decided.layer(layer));
    let document = Document {
        warnings: vec![],
        answer: None,
        sections: vec![Section {
            id: "layer",
            title: "",
            room: Room::Terminal,
            blocks: vec![Block::Table(of_layer)],
        }],
    };
    let mut out = text(&document, Style::Plain);
    let subject = Subject::Layer(layer);
    let others = decided
        .reasons
        .iter()
        .filter(|reason| reason.subject != subject);
    for reason in decided.about(&subject).chain(others) {
        out += &format!("{}\n", reason.text);
    }
    out + &examples(report.mismatches.iter().filter(|m| m.layer == layer))
}
