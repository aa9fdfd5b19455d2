//! Inlined frames: with the usual debug info records, and with those of all instructions.

use super::digest::Digest;
use super::table::{Column, Table, basis, rate};
use crate::numbers;

/// The table, below its heading; empty without a stored report.
pub(super) fn section(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-inlined");
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        "JDK",
        "program",
        "records",
        "AsyncGetCallTrace, judged:",
        "false:",
        "imprecise:",
        "AsyncGetStackTrace, judged:",
        "false:",
        "may miss inlined:",
    ]);
    for column in &columns {
        for run in column.runs() {
            let of = |walker| {
                column.tally(
                    |other| std::ptr::eq(other, run),
                    |row| row.walker == Some(walker),
                )
            };
            let [theirs, ours] = ["asgct", "asgst"].map(of);
            table.row([
                column.jdk.to_owned(),
                run.program.clone(),
                run.axes.get("records").cloned().unwrap_or_default(),
                numbers::count(theirs.decided()),
                rate(theirs.mismatches(), theirs.decided()),
                numbers::part(theirs.imprecise, theirs.decided()),
                numbers::count(ours.decided()),
                rate(ours.mismatches(), ours.decided()),
                numbers::part(ours.flagged, ours.decided() + ours.errors() + ours.flagged),
            ]);
        }
    }
    format!(
        "\n## Inlined frames\n\n{}\n\"all\" records are those of `-XX:+DebugNonSafepoints`. Programs have light hooks, which leave inlining as it is; `library` is\nhash maps, sorting, strings and streams.\n\n{}",
        basis(&columns, "inlined"),
        table.markdown()
    )
}
