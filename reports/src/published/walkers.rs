//! AsyncGetCallTrace and AsyncGetStackTrace, asked in turns.

use super::digest::Digest;
use super::inlined;
use super::queue;
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use oracle::{LAYERS, LayerRow};

/// The walkers that are compared.
const WALKERS: [(&str, &str); 2] = [
    ("asgct", "AsyncGetCallTrace"),
    ("asgst", "AsyncGetStackTrace"),
];

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-walkers");
    let mut table = Table::new([
        "JDK",
        "layers",
        "walker",
        "checks:",
        "no answer:",
        "false:",
        "imprecise:",
        "may miss inlined:",
    ]);
    for column in &columns {
        for ours in LAYERS.iter().filter(|row| row.walker == Some(WALKERS[1].0)) {
            let Some(theirs) = LAYERS.iter().find(|row| are_twins(row, ours)) else {
                continue;
            };
            for (row, (_, title)) in [theirs, ours].into_iter().zip(WALKERS) {
                let tally = column.tally(|_| true, |of| of.layer == row.layer);
                let asked = tally.decided() + tally.errors() + tally.flagged;
                if asked == 0 {
                    continue;
                }
                table.row([
                    column.jdk.to_owned(),
                    format!("`{}`", row.name),
                    title.to_owned(),
                    numbers::count(tally.checks()),
                    numbers::part(tally.errors(), asked),
                    rate(tally.mismatches(), tally.decided()),
                    numbers::part(tally.imprecise, tally.decided()),
                    numbers::part(tally.flagged, asked),
                ]);
            }
        }
    }
    format!(
        "{}\n\"No answer\" has all error codes, those for threads without a Java frame among them. An answer of AsyncGetStackTrace that\nsays that inlined frames may be missing is not judged as false or right.\n\n{}{}{}",
        basis(&columns, "walkers"),
        table.markdown(),
        queue::section(digests),
        inlined::section(digests)
    )
}

/// Whether two layers ask the two walkers at the same instants, and compare them with the same truths.
fn are_twins(theirs: &LayerRow, ours: &LayerRow) -> bool {
    theirs.walker == Some(WALKERS[0].0)
        && theirs.when == ours.when
        && theirs.program == ours.program
        && theirs.truths == ours.truths
}
