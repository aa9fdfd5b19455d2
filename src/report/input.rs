//! Reports as commands get them.

use crate::output;
use oracle::report::Report;
use scenarios::{Error, collect, store};
use std::path::Path;

/// Reads the report at `path`, a file or a job's folder. Says on standard error where to find runs
/// that the report does not have.
pub fn read(path: &Path) -> Result<Report, Error> {
    let report = store::read_report(path);
    advise(path, report.as_ref().ok());
    report
}

/// Says on standard error where to find runs that `report`, the one at `path`, does not have.
pub fn advise(path: &Path, report: Option<&Report>) {
    if let Some(advice) = collect::unreported(path, report) {
        output::say(advice);
    }
}
