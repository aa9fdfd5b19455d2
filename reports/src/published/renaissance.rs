//! Benchmarks of Renaissance, hooked and unmodified.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use hotspot::causes::CAUSES;
use oracle::record::{CauseName, Hooking};
use oracle::tally::Tally;
use oracle::{LayerRow, ProgramKind, When};
use std::collections::BTreeMap;

/// Layer `ground`, and the walkers on which the judgement of others rests.
const FOUNDATIONS: [&str; 3] = ["gst", "gst-list", "gst-all"];

/// The walker that is judged.
const WALKER: &str = "asgct";

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-renaissance");
    format!(
        "{}\nA rate is a share of the judged stacks, with its 95 % interval; \"none\" has its upper bound. \"No answer\" is a share of the checks with\na truth. The CPU time is a multiple of that of the same work without the agent, from one run each.\n\n## In signal handlers\n\n{}\n## In events\n\n{}\n## Causes\n\nFalse and imprecise stacks of AsyncGetCallTrace, all programs together:\n\n{}\n## GetStackTrace and the hooks\n\n{}",
        basis(&columns, "renaissance"),
        at(&columns, When::Signal),
        at(&columns, When::Event),
        causes(&columns),
        foundations(&columns),
    )
}

/// A row for each program, hooked or unmodified, and JDK.
fn at(columns: &[Column<'_>], when: When) -> String {
    let is_meant = |row: &LayerRow| is_judged(row) && row.when == when;
    let mut rows: BTreeMap<(&str, bool, usize), (&DigestRun, Tally)> = BTreeMap::new();
    for (index, column) in columns.iter().enumerate() {
        for run in column.runs() {
            let tally = sum(run, is_meant);
            if tally.checks() > 0 {
                rows.insert((&run.program, is_hooked(run), index), (run, tally));
            }
        }
    }
    let mut table = Table::new([
        "program",
        "is",
        "JDK",
        "judged stacks:",
        "false:",
        "imprecise:",
        "no answer:",
        "CPU time:",
    ]);
    for ((program, _, index), (run, tally)) in rows {
        table.row([
            program.to_owned(),
            kind(run).to_owned(),
            columns[index].jdk.to_owned(),
            numbers::count(tally.decided()),
            rate(tally.mismatches(), tally.decided()),
            numbers::part(tally.imprecise, tally.decided()),
            numbers::part(tally.errors(), tally.checks() - tally.unverifiable),
            run.slowdown_cpu
                .map_or("no data".into(), |times| format!("{times:.2}")),
        ]);
    }
    table.markdown()
}

/// A row for each cause that was seen, and for the stacks without one.
fn causes(columns: &[Column<'_>]) -> String {
    let kinds = [true, false];
    let heads = columns
        .iter()
        .flat_map(|column| kinds.map(|hooked| format!("{}, {}:", column.jdk, name(hooked))));
    let mut table = Table::new(["cause".to_owned()].into_iter().chain(heads));
    let cells = |cause: Option<&str>| -> Vec<u64> {
        let of = |column: &Column<'_>, hooked: bool| -> u64 {
            let runs = column.runs().filter(|run| is_hooked(run) == hooked);
            let kinds = runs.flat_map(|run| &run.kinds);
            let meant = kinds.filter(|kind| {
                let name = kind.cause.as_ref().map(|name| name.as_str());
                is_judged(kind.layer.row())
                    && match cause {
                        Some(cause) => name == Some(cause),
                        None => !CAUSES.iter().any(|known| name == Some(known.name)),
                    }
            });
            meant.map(|kind| kind.count).sum()
        };
        let of_column = |column| kinds.map(|hooked| of(column, hooked));
        columns.iter().flat_map(of_column).collect()
    };
    for cause in CAUSES {
        let counts = cells(Some(cause.name));
        // That nothing is without a known cause is a result, too.
        let is_alarm = cause.name == CauseName::UNEXPLAINED;
        if is_alarm || counts.iter().any(|&count| count > 0) {
            let link = format!("[`{name}`](../findings.md#{name})", name = cause.name);
            table.row([link].into_iter().chain(counted(counts)));
        }
    }
    let rest = cells(None);
    if rest.iter().any(|&count| count > 0) {
        let name = ["not looked at".to_owned()];
        table.row(name.into_iter().chain(counted(rest)));
    }
    let judged = columns.iter().flat_map(|column| {
        kinds.map(|hooked| {
            let is_run = |run: &DigestRun| is_hooked(run) == hooked;
            column.tally(is_run, is_judged).decided()
        })
    });
    let last = ["of judged stacks".to_owned()];
    table.row(last.into_iter().chain(counted(judged.collect())));
    table.markdown()
}

/// Whether the hooks and GetStackTrace were right.
fn foundations(columns: &[Column<'_>]) -> String {
    let heads = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let mut table = Table::new(["mistakes of".to_owned()].into_iter().chain(heads));
    let mut row = |title: &str, is_meant: &dyn Fn(&LayerRow) -> bool| {
        let cells = columns.iter().map(|column| {
            let tally = column.tally(|_| true, is_meant);
            let (bad, judged) = (tally.mismatches(), tally.decided());
            format!("{} of {}", numbers::count(bad), numbers::count(judged))
        });
        table.row([title.to_owned()].into_iter().chain(cells));
    };
    row("the hooks", &|row| row.walker.is_none());
    row("GetStackTrace and its kin", &|row| {
        row.walker
            .is_some_and(|walker| FOUNDATIONS.contains(&walker))
    });
    table.markdown()
}

/// Whether the layer judges the walker, and is not the one that judges some of the same walks once more.
fn is_judged(row: &LayerRow) -> bool {
    row.walker == Some(WALKER) && row.program != ProgramKind::Either
}

fn counted(counts: Vec<u64>) -> impl Iterator<Item = String> {
    counts.into_iter().map(numbers::count)
}

fn sum(run: &DigestRun, is_meant: impl Fn(&LayerRow) -> bool) -> Tally {
    let mut sum = Tally::default();
    for counts in run.layers.iter().filter(|of| is_meant(of.layer.row())) {
        sum += &counts.tally();
    }
    sum
}

fn is_hooked(run: &DigestRun) -> bool {
    run.hooks != Hooking::None
}

fn kind(run: &DigestRun) -> &'static str {
    name(is_hooked(run))
}

fn name(is_hooked: bool) -> &'static str {
    if is_hooked { "hooked" } else { "unmodified" }
}
