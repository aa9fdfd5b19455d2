//! Pages end somewhere.

/// What is said of things that a renderer left out.
pub(super) fn left_out(count: usize, what: &str) -> String {
    format!("And {count} more {what}, in report.json.")
}
