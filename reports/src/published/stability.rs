//! Which walker survives altered contexts.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis, made, rate};
use crate::numbers;
use oracle::report::Exit;

pub(super) fn tables(digests: &[Digest]) -> String {
    both(digests) + &wild(digests)
}

/// Both walkers, in short runs.
fn both(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-stability");
    let mut table = Table::new([
        "JDK",
        "walker",
        "altered",
        "walks:",
        "the JVM",
        "longest walk:",
    ]);
    for column in &columns {
        for run in column.runs() {
            let walks = Walks::of(run);
            table.row([
                column.jdk.to_owned(),
                axis(run, "walker"),
                axis(run, "altered"),
                numbers::count(walks.count),
                end(run),
                walks.longest(),
            ]);
        }
    }
    format!(
        "{}\nFour fixtures without hooks. A run ends at its first crash.\n\n{}",
        basis(&columns, "stability"),
        table.markdown()
    )
}

/// AsyncGetStackTrace alone, in runs of minutes; empty without a stored report.
fn wild(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-wild");
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        "JDK",
        "altered",
        "flags",
        "walks:",
        "the JVM",
        "longest walk:",
        "judged:",
        "false:",
    ]);
    let mut all = 0;
    for column in &columns {
        for run in column.runs() {
            let walks = Walks::of(run);
            all += walks.count;
            let tally = column.tally(|other| std::ptr::eq(other, run), |_| true);
            table.row([
                column.jdk.to_owned(),
                axis(run, "altered"),
                axis(run, "code"),
                numbers::count(walks.count),
                end(run),
                walks.longest(),
                numbers::count(tally.decided()),
                rate(tally.mismatches(), tally.decided()),
            ]);
        }
    }
    format!(
        "\n## Runs of minutes, AsyncGetStackTrace alone\n\nRuns of [wild.toml](scenarios/wild.toml):\n\n{}\n{} walks from altered contexts. The longest walk is in CPU time. The judged stacks are those of the walks from the contexts as\nthey were, at the same instants.\n\n{}",
        made(&columns),
        numbers::count(all),
        table.markdown()
    )
}

/// The walks from altered contexts of a run.
struct Walks {
    count: u64,
    longest_ns: u64,
}

impl Walks {
    fn of(run: &DigestRun) -> Walks {
        let layers = run.altered.iter().flat_map(|altered| &altered.layers);
        layers.fold(
            Walks {
                count: 0,
                longest_ns: 0,
            },
            |sum, of| Walks {
                count: sum.count + of.walks,
                longest_ns: sum.longest_ns.max(of.longest_ns),
            },
        )
    }

    fn longest(&self) -> String {
        format!("{:.0} µs", self.longest_ns as f64 / 1e3)
    }
}

fn axis(run: &DigestRun, name: &str) -> String {
    run.axes.get(name).cloned().unwrap_or_default()
}

/// How the JVM ended.
fn end(run: &DigestRun) -> String {
    match &run.exit {
        Exit::Code(0) => "survived".to_owned(),
        Exit::Signal(signal) => format!("crashed (signal {signal})"),
        Exit::Deadline => "hung".into(),
        Exit::Interrupted => "survived until it was stopped by hand".into(),
        other => format!(
            "ended with {}",
            serde_json::to_string(other).unwrap_or_default()
        ),
    }
}
