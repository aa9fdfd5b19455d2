//! What hooks and sampling cost.

use super::digest::{Digest, DigestRun};
use super::table::{Column, Table, basis, made};
use oracle::Hooking;

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-causes");
    let fixtures = format!(
        "{}\nCPU time as a multiple of that of the same work without the agent, with the usual sampling and checks. One run each, so a\nratio may be off by a fifth.\n\n{}",
        basis(&columns, "causes"),
        ratios(&columns)
    );
    let columns = Column::of(digests, "overhead");
    if columns.is_empty() {
        return fixtures;
    }
    format!(
        "{fixtures}\n## Real programs\n\nRuns of [overhead.toml](../../scenarios/files/overhead.toml): all classes of the programs and of the JDK have hooks, a thousand samples\na second, checks in hooks for a hundredth of the time. A ratio of CPU times, as above; the median where there is more than one run.\n\n{}\n{}",
        made(&columns),
        ratios(&columns)
    )
}

/// A row for each program and its hooks, a column for each JDK.
pub(super) fn ratios(columns: &[Column<'_>]) -> String {
    let jdks = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let mut table = Table::new(
        ["program".into(), "hooks".to_owned()]
            .into_iter()
            .chain(jdks),
    );
    let mut rows: Vec<Row<'_>> = vec![];
    for run in columns.iter().flat_map(Column::runs) {
        if run.slowdown_cpu.is_some() && !rows.contains(&row(run)) {
            rows.push(row(run));
        }
    }
    for (program, hooks) in rows {
        let cells = columns.iter().map(|column| {
            let runs = column.runs().filter(|run| row(run) == (program, hooks));
            let ratio = median(runs.filter_map(|run| run.slowdown_cpu).collect());
            ratio.map_or("no data".into(), |times| format!("{times:.2}"))
        });
        let first = [program.to_owned(), hooks.to_string()];
        table.row(first.into_iter().chain(cells));
    }
    table.markdown()
}

/// A program and its hooks.
type Row<'a> = (&'a str, Hooking);

fn row(run: &DigestRun) -> Row<'_> {
    (&run.program, run.hooks)
}

/// The middle one, of an even number the lower of both.
fn median(mut ratios: Vec<f64>) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len().saturating_sub(1) / 2).copied()
}
