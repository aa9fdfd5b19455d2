//! Makes the report of a session again from the files of its runs.

use super::facts::Facts;
use super::request;
use crate::Error;
use crate::store::names;
use oracle::report::{self, Exit, Report, Skipped};
use std::fs;
use std::path::{Path, PathBuf};

/// Makes the report of the session in `dir` again. Runs that an earlier session left in the same
/// folder are no part of the report. A run whose facts cannot be read is skipped, with the reason.
pub fn recollect(dir: &Path) -> Result<Report, Error> {
    let (own, mut report) = request::read(dir)?;
    let mut damaged = vec![];
    for run in runs(dir) {
        match facts(&run) {
            Ok(facts) if facts.session == own.session => {
                facts.collect(&run, &mut report);
            }
            Ok(_) => {}
            Err(why) => damaged.push(Skipped {
                scenario: run.file_name().unwrap_or_default().display().to_string(),
                why: format!("{} cannot be read: {why}", names::FACTS),
                dir: String::new(),
            }),
        }
    }
    report.layers = report::sum_layers(&report.runs);
    let ended = report.runs.len() + report.skipped.len() >= own.jobs.unwrap_or(report.planned);
    let interrupted = report.runs.iter().any(|run| run.exit == Exit::Interrupted);
    report.complete = ended && damaged.is_empty() && !interrupted;
    report.skipped.extend(damaged);
    Ok(report)
}

/// The folders of all runs, in the order of the runs.
pub(super) fn runs(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("runs"));
    let entries = entries.into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|run| run.join(names::FACTS).exists())
        .collect();
    runs.sort();
    runs
}

pub(super) fn facts(run: &Path) -> Result<Facts, String> {
    let text = fs::read(run.join(names::FACTS)).map_err(|e| e.to_string())?;
    serde_json::from_slice(&text).map_err(|e| e.to_string())
}
