//! Kinds of mismatches, as a report counts them.

use crate::record::{KindCount, Mismatch};
use crate::report::{Report, Run};

/// The kinds of a run's mismatches. A report of an earlier version has only those that were written
/// down.
pub(super) fn of_run(report: &Report, run: &Run) -> Vec<KindCount> {
    if !run.kinds.is_empty() {
        return run.kinds.clone();
    }
    let dir = Some(&run.dir);
    let of_run = report
        .mismatches
        .iter()
        .filter(|m| m.evidence.run.as_ref() == dir);
    of_run.map(of_one).collect()
}

/// The kind of a mismatch that was written down.
pub(super) fn of_one(mismatch: &Mismatch) -> KindCount {
    let frame = mismatch.first_differing();
    let method = frame.map_or("", |frame| frame.method.as_str());
    KindCount {
        layer: mismatch.layer,
        verdict: mismatch.verdict,
        cause: mismatch.cause.clone(),
        place: method.split('(').next().unwrap_or_default().into(),
        count: 1,
    }
}
