//! The cost of runs.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::cost::Cost;
use oracle::report::{Report, Run};

/// A row for each run.
pub(in crate::content) fn section(report: &Report) -> Section {
    let mut table = Table::new([
        ("run", Words),
        ("CPU s", Numbers),
        ("async checks per CPU s", Numbers),
        ("times the CPU time without the agent", Numbers),
        ("times the time", Numbers),
    ]);
    for run in &report.runs {
        let numbers =
            numbers(run.cost.as_ref()).map(|(number, digits)| Cell::Number(number, digits));
        let cells = [vec![Cell::Text(run.title())], numbers.into()].concat();
        table.push(Tone::Plain, cells);
    }
    Section {
        id: "cost",
        title: "Cost",
        room: Room::Summary,
        blocks: vec![Block::Table(table)],
    }
}

/// CPU time, checks per second of CPU time, and both slowdowns, each with its number of decimals.
fn numbers(cost: Option<&Cost>) -> [(Option<f64>, usize); 4] {
    [
        (cost.map(|cost| cost.cpu_s), 1),
        (cost.and_then(|cost| cost.async_checks_per_cpu_s), 0),
        (cost.and_then(|cost| cost.slowdown_cpu), 2),
        (cost.and_then(|cost| cost.slowdown_wall), 2),
    ]
}

/// A run's cost in a sentence, if the cost is known.
pub(super) fn line(run: &Run) -> Option<String> {
    let cost = run.cost.as_ref()?;
    let [cpu, checks, slowdown, wall] =
        numbers(Some(cost)).map(|(number, digits)| Cell::Number(number, digits).plain());
    let checks = match cost.async_checks_per_cpu_s {
        Some(_) => format!("{checks} async checks per second of CPU"),
        None => "no async checks".into(),
    };
    let slowdown = match (cost.slowdown_cpu, &cost.not_compared) {
        (Some(_), _) => format!(
            "{slowdown} times the CPU time of the same work without the agent, {wall} times the time"
        ),
        (None, Some(why)) => format!("slowdown: no data, {why}"),
        (None, None) => "slowdown: no data".into(),
    };
    let edges = run.edges.judged_per_cpu_s();
    let edges = edges.map_or(String::new(), |rate| {
        format!("; call edges of {rate:.0} stacks judged per second of CPU that judging took")
    });
    Some(format!("{cpu} s of CPU, {checks}; {slowdown}{edges}"))
}
