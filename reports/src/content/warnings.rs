//! What a reader must know before any result.

use oracle::report::Report;

/// What of the VM could not be read, a sentence each.
pub(super) fn warnings(report: &Report) -> Vec<String> {
    let lost = report.lost().into_iter();
    lost.map(ToString::to_string).collect()
}
