//! Which walker survives altered contexts.

use super::digest::Digest;
use super::table::{Column, Table, basis};
use crate::numbers;
use oracle::report::Exit;

pub(super) fn tables(digests: &[Digest]) -> String {
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
            let walks = run.altered.iter().flat_map(|altered| &altered.layers);
            let (mut count, mut longest) = (0, 0);
            for of in walks {
                count += of.walks;
                longest = longest.max(of.longest_ns);
            }
            let axis = |name: &str| run.axes.get(name).cloned().unwrap_or_default();
            let end = match &run.exit {
                Exit::Code(0) => "survived".to_owned(),
                Exit::Signal(signal) => format!("crashed (signal {signal})"),
                Exit::Deadline => "hung".into(),
                other => format!(
                    "ended with {}",
                    serde_json::to_string(other).unwrap_or_default()
                ),
            };
            table.row([
                column.jdk.to_owned(),
                axis("walker"),
                axis("altered"),
                numbers::count(count),
                end,
                format!("{:.0} µs", longest as f64 / 1e3),
            ]);
        }
    }
    format!(
        "{}\nFour fixtures without hooks. A run ends at its first crash.\n\n{}",
        basis(&columns, "stability"),
        table.markdown()
    )
}
