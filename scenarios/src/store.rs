//! Reports on disk. A report is replaced in one step, so that whatever kills us, a reader
//! finds the old one or the new one, never half of one.

use crate::Error;
use oracle::report::{Report, SCHEMA};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Name of the report in a job's folder.
pub const REPORT_FILE: &str = "report.json";

/// Writes the report into `dir`.
pub fn write_report(dir: &Path, report: &Report) -> Result<PathBuf, Error> {
    let mut text = serde_json::to_vec_pretty(report).expect("a report is plain data");
    text.push(b'\n');
    write_file(&dir.join(REPORT_FILE), &text)
}

/// Writes a file in one step.
pub fn write_file(path: &Path, content: &[u8]) -> Result<PathBuf, Error> {
    replace(path, content).map_err(|source| Error::Out {
        path: path.into(),
        source,
    })?;
    Ok(path.into())
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new()
        .prefix(".part-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(dir)?;
    part.write_all(content)?;
    part.as_file().sync_all()?;
    part.persist(path)?;
    Ok(())
}

/// Reads the report at `path`, a file or a job's folder.
pub fn read_report(path: &Path) -> Result<Report, Error> {
    let file = if path.is_dir() {
        path.join(REPORT_FILE)
    } else {
        path.into()
    };
    let fail = |why: String| Error::Report {
        path: file.clone(),
        why,
    };
    let text = fs::read(&file).map_err(|e| fail(e.to_string()))?;
    if text.is_empty() {
        return Err(fail("the file is empty".into()));
    }
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|e| match e.is_eof() {
        true => fail(format!("the report is cut off ({e})")),
        false => fail(format!("not a report: {e}")),
    })?;
    match value["schema"].as_u64() {
        Some(n) if n == u64::from(SCHEMA) => {}
        Some(n) => {
            return Err(fail(format!(
                "its schema is {n}, this version knows {SCHEMA}"
            )));
        }
        None => return Err(fail("not a report: it has no `schema`".into())),
    }
    serde_json::from_value(value).map_err(|e| fail(format!("not a report: {e}")))
}
