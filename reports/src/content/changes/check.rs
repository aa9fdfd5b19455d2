//! The answer of a check of two builds.

use super::cells::{example, examples, meaning};
use super::common::common;
use super::worse::{NAMED, alone, codes, impossible, untrue};
use crate::content::frames::stacks;
use crate::content::warnings::warnings;
use crate::model::Kind::{Numbers, Words};
use crate::model::{self, Block, Document, Finding, Room, Section, Table, Tone};
use crate::numbers::{count, counted, share};
use oracle::gate;
use oracle::gate::{Answer, Cell, Class, NotWorse, Rise};
use oracle::outcome::Outcome;
use oracle::record::Mismatch;
use oracle::report::{Report, Run};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter;

/// So many kinds have an example; the others are named.
const EXAMPLES: usize = 4;

/// The answer of a check, with the reports of both builds.
pub fn check(answer: &Answer, base: &Report, new: &Report) -> Document {
    let verdict = match answer.outcome {
        Outcome::Within => "not worse",
        Outcome::Over => "worse",
        Outcome::NotMeasured => "no answer",
        Outcome::Crashed => "the JVM crashed or hung",
    };
    let warnings = [("base", base), ("new build", new)].map(|(build, report)| {
        let of_build = warnings(report).into_iter();
        of_build.map(move |warning| format!("{build}: {warning}"))
    });
    let worse = section("worse", "What is worse", worse(answer, new));
    Document {
        warnings: warnings.into_iter().flatten().collect(),
        answer: Some(model::Answer {
            outcome: answer.outcome,
            verdict: verdict.into(),
            headline: Some(answer.headline.clone()),
            reasons: vec![],
        }),
        sections: iter::once(worse)
            .chain(tables(answer, base, new))
            .filter(|section| !section.blocks.is_empty())
            .collect(),
    }
}

/// The bounds of each layer, and what was compared.
fn tables(answer: &Answer, base: &Report, new: &Report) -> [Section; 2] {
    [
        section(
            "bounds",
            "How much worse the new build may still be",
            bounds(answer),
        ),
        section("builds", "What was compared", builds(answer, base, new)),
    ]
}

fn section(id: &'static str, title: &'static str, blocks: Vec<Block>) -> Section {
    Section {
        id,
        title,
        room: Room::Terminal,
        blocks,
    }
}

/// What is worse for sure, the weightiest first.
pub(in crate::content) fn findings(answer: &Answer, new: &Report) -> Vec<Finding> {
    let broken = impossible(new, &answer.broken).into_iter();
    let none_allowed = answer.untrue.iter().map(|&(layer, n)| {
        let text = format!(
            "{layer}: {} false; at these places an honest JVM gives none",
            counted(n, "stack is", "stacks are")
        );
        untrue(new, layer, text, |_| true)
    });
    let unexplained = answer.unexplained.iter().map(|&(layer, n)| {
        let text = format!(
            "{layer}: no known defect of a walker explains {}; an honest JVM has next to none",
            counted(n, "false stack", "false stacks")
        );
        untrue(new, layer, text, Mismatch::is_unexplained)
    });
    let rises = answer.rises.iter().map(|it| rise(new, it));
    broken
        .chain(none_allowed)
        .chain(unexplained)
        .chain(rises)
        .collect()
}

/// What is worse, as far as there is room for it.
fn worse(answer: &Answer, new: &Report) -> Vec<Block> {
    let findings = findings(answer, new).into_iter().enumerate();
    let shown = findings.flat_map(|(at, finding)| {
        let blocks = finding.into_blocks();
        let room = if at < EXAMPLES { blocks.len() } else { 1 };
        blocks.into_iter().take(room)
    });
    shown.collect()
}

/// What is more frequent in the new build: what that means, where it is, and an example.
pub(in crate::content) fn rise(new: &Report, rise: &Rise) -> Finding {
    let mut blocks: Vec<Block> = meaning(&rise.cell).into_iter().collect();
    let programs = rise.others.iter().filter(|cell| !cell.is_of_all_programs());
    blocks.extend(named(
        "programs that show it alone",
        programs.map(|cell| cell.program.as_str()),
    ));
    let places = rise.others.iter().filter_map(|cell| cell.place.as_deref());
    blocks.extend(named("places", places));
    blocks.extend(seen_in(new, examples(new, &rise.cell)));
    blocks.extend(codes(new, &rise.cell));
    blocks.extend(common(new, examples(new, &rise.cell)));
    let example = example(new, &rise.cell);
    blocks.extend(example.map(|mismatch| Block::Example(stacks(mismatch))));
    let run = example.and_then(|mismatch| new.run_of(mismatch));
    let run = run.or_else(|| with_most(new, &rise.cell));
    blocks.extend(run.map(|run| alone(new, run)));
    Finding::sure(rise.to_string(), blocks)
}

fn named<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<Block> {
    let names: Vec<&str> = names.take(NAMED).collect();
    (!names.is_empty()).then(|| Block::Note(format!("{what}: {}", names.join(", "))))
}

/// The programs in which the mismatches were, those with most first.
fn seen_in<'a>(new: &Report, mismatches: impl Iterator<Item = &'a Mismatch>) -> Option<Block> {
    let mut programs = BTreeMap::<String, u64>::new();
    for run in mismatches.filter_map(|mismatch| new.run_of(mismatch)) {
        *programs.entry(run.title()).or_default() += 1;
    }
    let mut programs: Vec<(String, u64)> = programs.into_iter().collect();
    programs.sort_by_key(|(_, n)| Reverse(*n));
    let shown = programs.iter().take(NAMED);
    let shown: Vec<String> = shown
        .map(|(program, n)| format!("{program} ({})", count(*n)))
        .collect();
    let more = match programs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!("examples are kept from {}{more}", shown.join(", "));
    (!shown.is_empty()).then_some(Block::Note(text))
}

/// The turn that shows a cell most often.
fn with_most<'a>(new: &'a Report, cell: &Cell) -> Option<&'a Run> {
    let events = |run: &&Run| match cell.what {
        gate::What::Error(code) | gate::What::Refused(code) => {
            let layers = run
                .layers
                .iter()
                .filter(|counts| counts.layer == cell.layer);
            layers
                .filter_map(|counts| counts.error.get(&code))
                .sum::<u64>()
        }
        _ => 0,
    };
    let of_program = |run: &&Run| cell.is_of_all_programs() || run.title() == cell.program;
    new.runs.iter().filter(of_program).max_by_key(events)
}

/// A row for each layer.
fn bounds(answer: &Answer) -> Vec<Block> {
    let mut table = Table::new([
        ("layer", Words),
        ("checks", Numbers),
        ("false, base", Numbers),
        ("new", Numbers),
        ("at most more", Numbers),
        ("errors, base", Numbers),
        ("new", Numbers),
        ("at most more", Numbers),
    ]);
    let measured = |class: Class| {
        answer
            .bounds
            .iter()
            .filter(move |bound| bound.class == class)
    };
    for falsehood in measured(Class::False) {
        let Some(errors) = measured(Class::NoAnswer).find(|it| it.layer == falsehood.layer) else {
            continue;
        };
        let mut cells = vec![
            model::Cell::text(falsehood.layer),
            model::Cell::Count(falsehood.base.1 + falsehood.new.1),
        ];
        for bound in [falsehood, errors] {
            cells.extend([bound.base, bound.new].map(rate));
            cells.push(at_most(bound));
        }
        table.push(Tone::Plain, cells);
    }
    if table.rows.is_empty() {
        return vec![];
    }
    let confidence = NotWorse::CONFIDENCE * 100.0;
    let note = format!(
        "Each bound holds with {confidence:.0} % confidence: more additional answers of the kind than that would have been seen."
    );
    let left_out = answer.bounds.iter().flat_map(left_out);
    [Block::Table(table), Block::Note(note)]
        .into_iter()
        .chain(left_out)
        .collect()
}

/// The causes that a bound leaves out.
fn left_out(bound: &NotWorse) -> impl Iterator<Item = Block> {
    bound.left_out.iter().map(|noisy| {
        let unseen = noisy.unseen();
        Block::Note(format!(
            "{}: the bound leaves out {}, which differs too much from turn to turn; {unseen} more would not have been seen.",
            bound.layer, noisy.cause
        ))
    })
}

fn rate((events, checks): (u64, u64)) -> model::Cell {
    match checks {
        0 => model::Cell::text("no data"),
        _ if events == 0 => model::Cell::text("0"),
        _ => model::Cell::Text(share(events as f64 / checks as f64)),
    }
}

fn at_most(bound: &NotWorse) -> model::Cell {
    match bound.at_most {
        None => model::Cell::text("not known"),
        Some(more) => model::Cell::Text(share(more)),
    }
}

fn builds(answer: &Answer, base: &Report, new: &Report) -> Vec<Block> {
    let line = |name: &str, report: &Report| {
        let jdk = &report.jdk;
        let what = [&jdk.vm, &jdk.version, &jdk.vendor]
            .map(String::as_str)
            .join(" ");
        Block::Note(match what.trim() {
            "" => format!("{name} no run"),
            what => format!("{name} {} ({what})", jdk.home),
        })
    };
    let Answer { pairs, minutes, .. } = answer;
    let mut blocks = vec![
        line("base:", base),
        line("new: ", new),
        Block::Note(format!(
            "{} in {minutes:.1} minutes",
            counted(*pairs as u64, "pair of turns", "pairs of turns")
        )),
    ];
    let libraries = answer.different_libraries.join(", ");
    if !libraries.is_empty() {
        blocks.push(Block::Note(format!(
            "not compared: instants in code of {libraries}, which is not the same in both"
        )));
    }
    blocks
}
