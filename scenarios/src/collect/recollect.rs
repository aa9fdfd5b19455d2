//! The report of a session, made again from what its runs left.

use crate::Error;
use crate::collect::facts::Facts;
use crate::store::{names, read_report};
use oracle::report::{self, Exit, Report};
use std::fs;
use std::path::{Path, PathBuf};

/// Makes the report of the session in `dir` again from what its runs left there.
pub fn recollect(dir: &Path) -> Result<Report, Error> {
    let mut report = read_report(&dir.join(names::SESSION))?;
    let mut runs: Vec<PathBuf> = fs::read_dir(dir.join("runs"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|run| run.join(names::FACTS).exists())
        .collect();
    runs.sort();
    for run in runs {
        let path = run.join(names::FACTS);
        let fail = |why: String| Error::Report {
            path: path.clone(),
            why,
        };
        let text = fs::read(&path).map_err(|e| fail(e.to_string()))?;
        let facts: Facts = serde_json::from_slice(&text).map_err(|e| fail(e.to_string()))?;
        facts.collect(&run, &mut report);
    }
    report.layers = report::sum_layers(&report.runs);
    report.complete = report.runs.len() + report.skipped.len() >= report.planned
        && !report.runs.iter().any(|run| run.exit == Exit::Interrupted);
    Ok(report)
}
