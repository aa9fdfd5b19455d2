//! Runs that a report lacks because the session was killed.

use super::recollect::{facts, runs};
use super::request;
use crate::store;
use oracle::report::Report;
use std::path::Path;

/// A note for the reader of `report`, which was read from `path`: its session is still running, or
/// there are runs that the report lacks, and where to find them. `report` is `None` if the file
/// cannot be read.
pub fn unreported(path: &Path, report: Option<&Report>) -> Option<String> {
    let dir = if path.is_dir() { path } else { path.parent()? };
    if report.is_some_and(|report| report.complete) {
        return None;
    }
    let (own, _) = request::read(dir).ok()?;
    let runs = runs(dir).into_iter();
    let facts = runs.filter_map(|run| facts(&run).ok());
    let runs = facts.filter(|facts| facts.session == own.session).count();
    let missing = runs.saturating_sub(report.map_or(0, |report| report.runs.len()));
    if missing == 0 {
        return None;
    }
    let shown = dir.display();
    Some(match store::in_use(dir) {
        Some(holder) => format!("the session in {shown} is still running, by {holder}"),
        None => format!(
            "the session in {shown} was killed, and {missing} of its runs are not in its report; \
             `stackwitness render --from-records {shown}` reads what they left"
        ),
    })
}
