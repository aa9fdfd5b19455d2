//! The reports that commands take.

use crate::cli::OUT;
use crate::output;
use oracle::report::Report;
use scenarios::{Error, collect, store};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The report that the user named, else that of the last run.
pub fn or_last(named: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(|| OUT.into())
}

/// Reads the report at `path`, a file or a folder of results. Says on standard error where to find
/// runs that the report lacks.
pub fn read(path: &Path) -> Result<Report, Error> {
    if path.as_os_str() == "-" {
        return read_input(path);
    }
    let report = store::read_report(path);
    advise(path, report.as_ref().ok());
    report
}

/// Reads a report from standard input.
fn read_input(path: &Path) -> Result<Report, Error> {
    let mut text = vec![];
    let read = io::stdin().lock().read_to_end(&mut text);
    read.map_err(|e| Error::Report {
        path: path.into(),
        why: e.to_string(),
    })?;
    store::parse_report(&text, path)
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
