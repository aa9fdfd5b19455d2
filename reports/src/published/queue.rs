//! The safepoint queue: what the handler gets of the samples that a signal handler has enqueued.

use super::digest::Digest;
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use hotspot::walkers::WALKERS;
use oracle::tally::Tally;

/// The name of the queue among the walkers.
const QUEUE: &str = "asgst-queue";

/// The table, below its heading; empty without a stored report.
pub(super) fn section(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-queue");
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        "JDK",
        "program",
        "samples:",
        "judged:",
        "false:",
        "may miss inlined:",
        "without a truth:",
        "no answer",
    ]);
    for column in &columns {
        for run in column.runs() {
            let tally = column.tally(
                |other| other.program == run.program,
                |row| row.walker == Some(QUEUE),
            );
            table.row([
                column.jdk.to_owned(),
                run.program.clone(),
                numbers::count(tally.checks()),
                numbers::count(tally.decided()),
                rate(tally.mismatches(), tally.decided()),
                numbers::count(tally.flagged),
                numbers::count(tally.unverifiable - tally.flagged),
                errors(&tally),
            ]);
        }
    }
    format!(
        "\n## The queue\n\n{}\nEach sample is enqueued in the signal handler, and judged by what the queue's handler gets. Samples are taken without a\npause, with exact hooks.\n\n{}",
        basis(&columns, "queue"),
        table.markdown()
    )
}

/// The error codes by name, the most frequent first.
fn errors(tally: &Tally) -> String {
    let mut codes: Vec<_> = tally.error.iter().collect();
    codes.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
    let walker = WALKERS.iter().find(|walker| walker.name == QUEUE);
    let named = codes.into_iter().map(|(code, count)| {
        let known = walker.and_then(|walker| walker.codes.iter().find(|of| of.code == *code));
        let name = known.map_or(code.to_string(), |of| format!("`{}`", of.name));
        format!("{} {name}", numbers::count(*count))
    });
    named.collect::<Vec<_>>().join(", ")
}
