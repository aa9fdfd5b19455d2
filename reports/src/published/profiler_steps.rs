//! A profiler at single instructions: the kinds of code at which its stacks are false.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis};
use crate::numbers;
use oracle::record::{CodeCounts, JoinCounts};
use oracle::tally::Tally;
use oracle::{Layer, RecordedSampler, TruthKind, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The layer in which threads that step ask a profiler.
fn layer() -> Option<Layer> {
    Layer::of_steps().find(|layer| layer.is_of(RecordedSampler::Profiler))
}

/// Kinds of code with fewer samples in all columns have no row.
const FEW: u64 = 1000;

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-profiler-steps");
    let asked: BTreeSet<String> = columns.iter().flat_map(Column::runs).map(asked).collect();
    let by_code = asked.iter().map(|asked| {
        format!(
            "\n`{asked}`, by the code that ran, where it was asked a thousand times: the share of false stacks among those that were decided, and of how many.\n\n{}",
            codes(&columns, asked)
        )
    });
    format!(
        "{}\nThe fixtures are compiled by C1 before they run, and javac as usual. Threads that step are slow: a JDK's shares depend on the\n\
         part of the programs that they came through, and on a busy machine that is the start. A stack whose methods are right and\n\
         whose BCI is not, as async-profiler's of deoptimised callers, is false, too.\n\n{}{}",
        basis(&columns, "profiler-steps"),
        totals(&columns, &asked),
        by_code.collect::<String>()
    )
}

/// How the profiler was configured: its place in the scenario's matrix.
fn asked(run: &DigestRun) -> String {
    run.axes.values().cloned().collect::<Vec<_>>().join(", ")
}

/// The runs of a column in which the profiler was configured so.
fn runs<'a>(column: &'a Column<'_>, configuration: &str) -> impl Iterator<Item = &'a DigestRun> {
    column.runs().filter(move |run| asked(run) == configuration)
}

fn totals(columns: &[Column<'_>], configurations: &BTreeSet<String>) -> String {
    let mut table = Table::new([
        "JDK",
        "run",
        "instants:",
        "joined:",
        "no answer:",
        "said:",
        "imprecise:",
        "silently false:",
        "`gst-step`: checks:",
        "false:",
    ]);
    for column in columns {
        for configuration in configurations {
            let is_meant = |run: &DigestRun| asked(run) == *configuration;
            let of = |layer: Option<Layer>| column.tally(is_meant, |row| Some(row.layer) == layer);
            let truth = TruthKind::Steps.checked_by();
            let (tally, truth): (Tally, Tally) = (of(layer()), of(Some(truth)));
            let joined = || runs(column, configuration).flat_map(|run| &run.joined);
            let sum = |count: fn(&JoinCounts) -> u64| joined().map(count).sum::<u64>();
            let events = sum(|of| of.events);
            table.row([
                column.jdk.to_owned(),
                configuration.clone(),
                numbers::count(tally.checks()),
                numbers::part(sum(|of| of.joined), events),
                numbers::part(tally.errors(), tally.checks()),
                numbers::part(sum(|of| of.said), events),
                numbers::part(tally.imprecise, tally.checks()),
                numbers::part(tally.mismatches(), tally.decided()),
                numbers::count(truth.decided()),
                numbers::count(truth.mismatches()),
            ]);
        }
    }
    table.markdown()
}

/// Decided stacks of one kind of code, and how many of them are false.
#[derive(Copy, Clone, Default)]
struct Decided {
    all: u64,
    wrong: u64,
}

impl Decided {
    fn of(counts: &CodeCounts) -> Decided {
        let of = |verdict: Verdict| counts.verdicts.get(verdict.name()).copied().unwrap_or(0);
        let wrong = of(Verdict::Wrong) + of(Verdict::Truncated);
        Decided {
            all: wrong + of(Verdict::Match) + of(Verdict::Imprecise),
            wrong,
        }
    }
}

fn codes(columns: &[Column<'_>], configuration: &str) -> String {
    let mut found: BTreeMap<&str, BTreeMap<&str, Decided>> = BTreeMap::new();
    for column in columns {
        let joined = runs(column, configuration).flat_map(|run| &run.joined);
        for (code, counts) in joined.flat_map(|of| &of.codes) {
            let sum = found.entry(kind(code)).or_default();
            let sum = sum.entry(column.jdk).or_default();
            let more = Decided::of(counts);
            (sum.all, sum.wrong) = (sum.all + more.all, sum.wrong + more.wrong);
        }
    }
    found.retain(|_, of| of.values().map(|of| of.all).sum::<u64>() >= FEW);
    let jdks = columns.iter().map(|column| format!("{}:", column.jdk));
    let mut table = Table::new(["code".to_owned()].into_iter().chain(jdks));
    for (code, of_jdks) in found {
        let cells = columns.iter().map(|column| match of_jdks.get(column.jdk) {
            Some(of) if of.all > 0 => format!(
                "{} of {}",
                numbers::part(of.wrong, of.all),
                numbers::count(of.all)
            ),
            _ => "-".into(),
        });
        table.row([format!("`{code}`")].into_iter().chain(cells));
    }
    table.markdown()
}

/// The kind of code behind the VM's name for a piece of it: releases write the same stub in several ways, such as
/// `monitorexit Runtime1 stub` and `monitorexit_blob (C1 runtime)`, and stubs of one kind count together.
fn kind(code: &str) -> &str {
    let name = code.split(" (").next().unwrap_or(code);
    let beginnings = ["C1 Runtime ", "C2 Runtime ", "Shared Runtime "];
    let name = beginnings
        .into_iter()
        .find_map(|beginning| name.strip_prefix(beginning))
        .unwrap_or(name);
    let endings = [" Runtime1 stub", "_blob", "_stub"];
    let short = endings
        .into_iter()
        .find_map(|ending| name.strip_suffix(ending));
    short.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_name_one_stub_in_several_ways() {
        for name in [
            "monitorexit Runtime1 stub",
            "C1 Runtime monitorexit_blob",
            "monitorexit_blob (C1 runtime)",
        ] {
            assert_eq!(kind(name), "monitorexit");
        }
        assert_eq!(kind("StubRoutines (finalstubs)"), "StubRoutines");
        assert_eq!(kind("nmethod tier 4"), "nmethod tier 4");
    }
}
