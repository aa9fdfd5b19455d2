//! What hooks and sampling cost.

use super::digest::Digest;
use super::table::{Column, Table, basis};

pub(super) fn tables(digests: &[Digest]) -> String {
    let columns = Column::of(digests, "results-causes");
    let jdks = columns.iter().map(|column| column.jdk.to_owned() + ":");
    let mut table = Table::new(
        ["program".into(), "hooks".to_owned()]
            .into_iter()
            .chain(jdks),
    );
    let mut programs = vec![];
    for run in columns.iter().flat_map(Column::runs) {
        let is_new = !programs
            .iter()
            .any(|&(program, hooks)| (program, hooks) == (&run.program, run.hooks));
        if run.slowdown_cpu.is_some() && is_new {
            programs.push((&run.program, run.hooks));
        }
    }
    for (program, hooks) in programs {
        let cells = columns.iter().map(|column| {
            let mut runs = column
                .runs()
                .filter(|run| (&run.program, run.hooks) == (program, hooks));
            let slowdown = runs.find_map(|run| run.slowdown_cpu);
            slowdown.map_or("no data".into(), |times| format!("{times:.2}"))
        });
        let first = [program.clone(), hooks.to_string()];
        table.row(first.into_iter().chain(cells));
    }
    format!(
        "{}\nCPU time as a multiple of that of the same work without the agent, with the usual sampling and checks. One run each, so a\nratio may be off by a fifth.\n\n{}",
        basis(&columns, "causes"),
        table.markdown()
    )
}
