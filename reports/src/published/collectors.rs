//! Causes of false stacks by collector and compiler.

use super::causes::{WALKER, link};
use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis};
use crate::content::is_foundation;
use crate::numbers;
use hotspot::causes::CAUSES;
use oracle::Verdict;

/// The scenario.
pub(super) const SCENARIO: &str = "collectors";

/// The axis of the scenario.
const AXIS: &str = "vm";

/// The tables, below their headings; empty without a stored report.
pub(super) fn sections(digests: &[Digest]) -> String {
    by_collector(digests) + &hot_code(digests)
}

fn by_collector(digests: &[Digest]) -> String {
    let columns = Column::of(digests, &format!("results-{SCENARIO}"));
    if columns.is_empty() {
        return String::new();
    }
    let value = |run: &DigestRun| run.axes.get(AXIS).cloned().unwrap_or_default();
    let tables = columns.iter().map(|column| {
        let table = table(column, &value);
        format!("\n### {}\n\n{table}", column.jdk)
    });
    format!(
        "\n## By collector and compiler\n\n{}\nAsyncGetCallTrace in hooked and unmodified fixtures together; one run of each, so small counts say little. Collectors run with the\nusual compilers, compilers with G1.\n{}",
        basis(&columns, SCENARIO),
        tables.collect::<String>()
    )
}

/// Where the VM moves compiled methods while they run.
fn hot_code(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-hot-code");
    let tables = columns.iter().map(|column| {
        let table = table(column, &|run| run.program.clone());
        format!(
            "\n## The hot code heap\n\n{}\n{table}",
            basis(&columns, "hot-code")
        )
    });
    tables.collect()
}

/// A column for each value that `value` has of the runs.
fn table(column: &Column<'_>, value: &dyn Fn(&DigestRun) -> String) -> String {
    let mut values: Vec<String> = vec![];
    for value in column.runs().map(value) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let titles = values.iter().map(|value| format!("{value}:"));
    let mut table = Table::new(["false stacks".to_owned()].into_iter().chain(titles));
    let mut row = |title: String, count: &dyn Fn(&str) -> u64| {
        let cells = values.iter().map(|of| numbers::count(count(of)));
        table.row([title].into_iter().chain(cells));
    };
    for cause in CAUSES {
        let count = |of: &str| count(column.runs().filter(|run| value(run) == of), cause.name);
        if values.iter().any(|of| count(of) > 0) {
            row(link(cause), &count);
        }
    }
    let tally = |of: &str| column.tally(|run| value(run) == of, |row| row.walker == Some(WALKER));
    row("all, with and without a cause".into(), &|of| {
        tally(of).mismatches()
    });
    row("of judged stacks".into(), &|of| tally(of).decided());
    row("mismatches of `ground` and GetStackTrace".into(), &|of| {
        let of_run = |run: &DigestRun| value(run) == of;
        let sum = column.tally(of_run, |row| is_foundation(row.layer));
        sum.mismatches()
    });
    table.markdown()
}

/// Number of false stacks of a cause.
fn count<'a>(runs: impl Iterator<Item = &'a DigestRun>, cause: &str) -> u64 {
    let kinds = runs.flat_map(|run| &run.kinds).filter(|kind| {
        let name = kind.cause.as_ref();
        let is_cause = name.is_some_and(|name| name.as_str() == cause);
        is_cause && kind.verdict != Verdict::Imprecise && kind.layer.row().walker == Some(WALKER)
    });
    kinds.map(|kind| kind.count).sum()
}
