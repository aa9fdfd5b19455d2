//! One page for a browser, readable offline.

use oracle::report::Report;

/// Renders a report.
pub fn render(_report: &Report) -> String {
    String::new()
}
