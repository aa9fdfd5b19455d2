//! Events, JFR's execution samples and thread dumps, and builds with assertions: the counts of each layer.

use super::cost::ratios;
use super::digest::Digest;
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use oracle::LAYERS;

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-layers");
    format!(
        "{}\nFixtures: without hooks (events), with an execution sample of JFR each millisecond, with threads that are suspended, and virtual\nthreads that yield many frames deep. {NO_ANSWER}\n\n{}",
        basis(&columns, "layers"),
        rows(&columns)
    )
}

/// Builds with HotSpot's assertions beside a product build: the counts of each layer, and what hooks and sampling cost.
pub(super) fn debug_builds(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-debug-builds");
    format!(
        "## Debug builds\n\n{}\n{NO_ANSWER}\n\n{}\nCPU time as a multiple of that of the same work on the same build without the agent:\n\n{}",
        basis(&columns, "debug-builds"),
        rows(&columns),
        ratios(&columns)
    )
}

const NO_ANSWER: &str = "\"No answer\" is a share of the checks with a truth.";

/// A row for each JDK, program and layer.
fn rows(columns: &[Column<'_>]) -> String {
    let mut table = Table::new([
        "JDK",
        "program",
        "layer",
        "checks:",
        "judged:",
        "false:",
        "window:",
        "imprecise:",
        "no answer:",
        "without a truth:",
    ]);
    for column in columns {
        for run in column.runs() {
            for row in LAYERS.iter().filter(|row| row.walker.is_some()) {
                let is_run = |other: &super::DigestRun| other.program == run.program;
                let tally = column.tally(is_run, |of| of.layer == row.layer);
                if tally.checks() == 0 {
                    continue;
                }
                table.row([
                    column.jdk.to_owned(),
                    run.program.clone(),
                    format!("`{}`", row.name),
                    numbers::count(tally.checks()),
                    numbers::count(tally.decided()),
                    rate(tally.mismatches(), tally.decided()),
                    numbers::part(tally.window, tally.decided()),
                    numbers::part(tally.imprecise, tally.decided()),
                    numbers::part(tally.errors(), tally.checks() - tally.unverifiable),
                    numbers::count(tally.unverifiable),
                ]);
            }
        }
    }
    table.markdown()
}
