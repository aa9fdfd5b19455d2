//! The text for things that are left out.

/// The text for things that a renderer left out.
pub(super) fn left_out(count: usize, what: &str) -> String {
    format!("And {count} more {what}, in report.json.")
}
