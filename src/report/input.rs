//! The reports that commands take.

use crate::output;
use oracle::report::Report;
use scenarios::{Error, collect, store};
use std::path::Path;

/// Reads the report at `path`, a file or a folder of results. Says on standard error where to find
/// runs that the report lacks.
pub fn read(path: &Path) -> Result<Report, Error> {
    let report = store::read_report(path);
    advise(path, report.as_ref().ok());
    report
}

/// The folder of the report at `path`, a file or a folder of results.
pub fn folder(path: &Path) -> &Path {
    if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(Path::new("."))
    }
}

/// Says on standard error where to find runs that `report`, which was read from `path`, lacks.
pub fn advise(path: &Path, report: Option<&Report>) {
    if let Some(advice) = collect::unreported(path, report) {
        output::say(advice);
    }
}
