//! Call edges: what class files say of the stacks of both walkers.

use super::collectors::SCENARIO;
use super::digest::Digest;
use super::table::{Column, Table, basis, rate};
use crate::numbers;
use oracle::record::{EdgeCounts, FoundEdges};

/// How the findings of edges begin that no class file allows.
const IMPOSSIBLE: &str = "impossible";

/// How the findings of edges begin of which class files say nothing.
const UNKNOWN: &str = "unknown";

/// A walker, and its counts in a run.
type Walker = (&'static str, fn(&EdgeCounts) -> &FoundEdges);

const WALKERS: [Walker; 2] = [
    ("GetStackTrace", |of| &of.gst),
    ("AsyncGetCallTrace", |of| &of.asgct),
];

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, &format!("results-{SCENARIO}"));
    let mut table = Table::new([
        "JDK",
        "walker",
        "stacks:",
        "edges:",
        "impossible:",
        "unknown:",
    ]);
    for column in &columns {
        for (title, counts) in WALKERS {
            let runs = column.runs().filter_map(|run| run.edges.as_ref());
            let of_runs: Vec<&FoundEdges> = runs.map(counts).collect();
            let found = |finding: &str| -> u64 {
                let edges = of_runs.iter().flat_map(|of| &of.edges);
                let edges = edges.filter(|(name, _)| name.starts_with(finding));
                edges.map(|(_, count)| count).sum()
            };
            let all = found("");
            table.row([
                column.jdk.to_owned(),
                title.to_owned(),
                numbers::count(of_runs.iter().map(|of| of.stacks).sum()),
                numbers::count(all),
                rate(found(IMPOSSIBLE), all),
                numbers::part(found(UNKNOWN), all),
            ]);
        }
    }
    format!(
        "{}\nFixtures, all collectors and compilers. GetStackTrace is asked in hooked and unmodified programs, AsyncGetCallTrace at arbitrary\ninstants of unmodified ones.\n\n{}",
        basis(&columns, SCENARIO),
        table.markdown()
    )
}
