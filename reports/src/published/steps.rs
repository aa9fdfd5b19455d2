//! Both walkers at each instruction of generated code.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use oracle::record::{CauseName, InstructionCounts};
use oracle::{Layer, TruthKind};
use std::collections::BTreeMap;

/// The walkers.
const WALKERS: [(&str, &str); 2] = [
    ("asgct", "AsyncGetCallTrace"),
    ("asgst", "AsyncGetStackTrace"),
];

/// The layer in which threads that step ask the walker.
fn layer_of(walker: &str) -> Option<Layer> {
    Layer::of_steps().find(|layer| layer.row().walker == Some(walker))
}

/// The layer of AsyncGetCallTrace.
fn of_jvm() -> Option<Layer> {
    layer_of(WALKERS[0].0)
}

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-steps");
    format!(
        "{}\nDifferent instructions, by the worst answer of all instants there. Each run has its own compiled code, so its instructions count\n\
         for themselves. \"Flagged\" answers say that inlined frames may be missing, and are true apart from that.\n\n{}\n\
         The causes of the false answers of AsyncGetCallTrace, as far as they were looked for, and the check of the truth itself:\n\n{}\n\
         Instructions of compiled methods, by what they do to the frame: the share at which an answer of AsyncGetCallTrace was false, and\n\
         the share of those without an answer.\n\n{}",
        basis(&columns, "steps"),
        walkers(&columns),
        causes(&columns),
        kinds(&columns),
    )
}

/// The runs of a column in which the walker of `layer` was asked.
fn runs<'a>(column: &Column<'a>, layer: Option<Layer>) -> impl Iterator<Item = &'a DigestRun> {
    let runs: Vec<_> = column.runs().collect();
    let asks = move |run: &&DigestRun| run.layers.iter().any(|counts| Some(counts.layer) == layer);
    runs.into_iter().filter(asks)
}

/// The sum of counts of instructions.
fn sum<'a>(counts: impl Iterator<Item = &'a InstructionCounts>) -> InstructionCounts {
    counts.fold(InstructionCounts::default(), |sum, of| InstructionCounts {
        all: sum.all + of.all,
        mismatch: sum.mismatch + of.mismatch,
        error: sum.error + of.error,
        imprecise: sum.imprecise + of.imprecise,
        flagged: sum.flagged + of.flagged,
        unverifiable: sum.unverifiable + of.unverifiable,
        coverage: None,
        ended: None,
    })
}

fn walkers(columns: &[Column<'_>]) -> String {
    let mut table = Table::new([
        "JDK",
        "walker",
        "instants:",
        "instructions:",
        "true:",
        "flagged:",
        "imprecise:",
        "no answer:",
        "false:",
        "not judged:",
    ]);
    for column in columns {
        for (name, walker) in WALKERS {
            let steps = runs(column, layer_of(name)).filter_map(|run| run.steps.as_ref());
            let steps: Vec<_> = steps.collect();
            let of = sum(steps.iter().flat_map(|steps| steps.instructions.values()));
            if of.all == 0 {
                continue;
            }
            let instants = steps.iter().map(|steps| steps.instants).sum();
            let parts = [
                of.flagged,
                of.imprecise,
                of.error,
                of.mismatch,
                of.unverifiable,
            ];
            let right = of.all - parts.iter().sum::<u64>();
            let counts = [instants, of.all].map(numbers::count).into_iter();
            let parts = [right].into_iter().chain(parts);
            let parts = parts.map(|part| share(part, of.all));
            let names = [column.jdk.to_owned(), walker.to_owned()];
            table.row(names.into_iter().chain(counts).chain(parts));
        }
    }
    table.markdown()
}

/// A share of instructions, which says whether there are none or few.
fn share(part: u64, all: u64) -> String {
    if part == 0 {
        "none".into()
    } else {
        numbers::part(part, all)
    }
}

fn causes(columns: &[Column<'_>]) -> String {
    let mut table = Table::new([
        "JDK",
        "false stacks by cause",
        "unexplained:",
        "`gst-step`: checks:",
        "false:",
    ]);
    for column in columns {
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        let kinds = runs(column, of_jvm()).flat_map(|run| &run.kinds);
        for kind in kinds.filter(|kind| Some(kind.layer) == of_jvm() && kind.verdict.is_mismatch())
        {
            let cause = kind
                .cause
                .as_ref()
                .map_or(CauseName::NOT_LOOKED_AT, CauseName::as_str);
            *found.entry(cause).or_default() += kind.count;
        }
        found.retain(|cause, _| *cause != CauseName::NOT_LOOKED_AT);
        let all = found.values().sum();
        let unexplained = found.remove(CauseName::UNEXPLAINED).unwrap_or(0);
        let mut known: Vec<_> = found.into_iter().collect();
        known.sort_by_key(|&(cause, count)| (std::cmp::Reverse(count), cause));
        let known = known
            .iter()
            .map(|(cause, count)| format!("{} {cause}", numbers::count(*count)));
        let truth = column.tally(|_| true, |row| row.layer == TruthKind::Steps.checked_by());
        table.row([
            column.jdk.to_owned(),
            known.collect::<Vec<_>>().join(", "),
            rate(unexplained, all),
            numbers::count(truth.decided()),
            numbers::count(truth.mismatches()),
        ]);
    }
    table.markdown()
}

fn kinds(columns: &[Column<'_>]) -> String {
    let of_column = |column: &Column<'_>| {
        let mut found: BTreeMap<String, InstructionCounts> = BTreeMap::new();
        let steps = runs(column, of_jvm()).filter_map(|run| run.steps.as_ref());
        for (kind, counts) in steps.flat_map(|steps| &steps.kinds) {
            let known = found.entry(kind.clone()).or_default();
            *known = sum([&*known, counts].into_iter());
        }
        found
    };
    let found: Vec<_> = columns.iter().map(of_column).collect();
    let mut names: Vec<&String> = found.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let of_jdks = columns.iter().flat_map(|column| {
        [
            format!("{}: false:", column.jdk),
            format!("{}: no answer:", column.jdk),
        ]
    });
    let mut table = Table::new(std::iter::once("instruction".to_owned()).chain(of_jdks));
    for kind in names {
        let shares = found.iter().flat_map(|of_jdk| {
            let of = of_jdk.get(kind).copied().unwrap_or_default();
            [of.mismatch, of.error].map(|part| numbers::part(part, of.all))
        });
        table.row(std::iter::once(format!("`{kind}`")).chain(shares));
    }
    table.markdown()
}
