//! A comparison for a terminal or a log: one line for each layer.

use oracle::compare::{Change, Trend};
use std::fmt::Write;

/// Renders a comparison.
pub fn render(changes: &[Change]) -> String {
    let mut out = String::new();
    for change in changes {
        let trend = match change.trend {
            Trend::Better => "better",
            Trend::Worse => "worse",
            Trend::NoEvidence => "no evidence of a change",
            Trend::NoData => "no data",
        };
        let p = change.p.map_or(String::new(), |p| format!("  p {p:.2e}"));
        let side = |(mismatches, checks)| format!("{mismatches} in {checks}");
        let _ = writeln!(
            out,
            "compare  {:<15}  base {}  new {}{p}  {trend}",
            change.layer,
            side(change.base),
            side(change.new)
        );
    }
    out
}
