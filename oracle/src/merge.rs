//! Joining the reports of several machines.

use crate::report::{Exit, Report, sum_layers};
use std::collections::BTreeSet;

/// Joins reports of shards: tallies add up, rates and bounds are computed anew. The result
/// is the same whatever the order of the reports. Fails where they do not belong together.
pub fn merge(reports: Vec<Report>) -> Result<Report, String> {
    let mut reports = reports.into_iter();
    let mut whole = reports.next().ok_or("there is no report to merge")?;
    for report in reports {
        if report.budget != whole.budget || report.required != whole.required {
            return Err(
                "the reports have different budgets: they are of different scenarios".into(),
            );
        }
        if report.planned != whole.planned {
            return Err("the reports are parts of different plans".into());
        }
        whole.complete &= report.complete;
        whole.runs.extend(report.runs);
        whole.skipped.extend(report.skipped);
        whole.mismatches.extend(report.mismatches);
    }
    // Folders are numbered by the plan, so their order is that of an undivided run.
    whole.runs.sort_by(|a, b| a.dir.cmp(&b.dir));
    let dirs: BTreeSet<_> = whole.runs.iter().map(|run| &run.dir).collect();
    if dirs.len() != whole.runs.len() {
        return Err("a run is in two of the reports".into());
    }
    let run_of = |mismatch: &crate::record::Mismatch| mismatch.evidence.get("run").cloned();
    whole.mismatches.sort_by_key(run_of);
    whole.skipped.sort_by(|a, b| a.scenario.cmp(&b.scenario));
    whole.layers = sum_layers(&whole.runs);
    if let Some(jdk) = whole.runs.iter().find_map(|run| run.jdk.clone()) {
        whole.jdk = jdk;
    }
    whole.complete &= whole.planned <= whole.runs.len() + whole.skipped.len();
    whole.complete &= !whole.runs.iter().any(|run| run.exit == Exit::Interrupted);
    Ok(whole)
}
