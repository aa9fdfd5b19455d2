//! Reports on disk. A report is replaced in one step: a reader finds the old report or the new
//! report, even if this process is killed.

use crate::Error;
use oracle::report::{OLDEST_SCHEMA, Report, SCHEMA};
use serde::Serialize;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

mod folder;
pub(crate) mod names;

pub use folder::Folder;
pub(crate) use folder::in_use;
pub use names::REPORT as REPORT_FILE;

/// Writes the report into `dir`.
pub fn write_report(dir: &Path, report: &Report) -> Result<(), Error> {
    write_json(&dir.join(names::REPORT), report)
}

/// The text of a report in `report.json`.
pub fn to_json(report: &Report) -> String {
    json(report)
}

fn json(data: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(data).expect("what we write is plain data");
    text.push('\n');
    text
}

/// Writes data as JSON in one step.
pub(crate) fn write_json(path: &Path, data: &impl Serialize) -> Result<(), Error> {
    write_file(path, json(data).as_bytes())
}

/// Writes a file in one step.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    replace(path, content).map_err(|source| Error::Out {
        path: path.into(),
        source,
    })
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new()
        .prefix(folder::PART)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(dir)
        // The name of the temporary file says nothing to the user.
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                io::Error::other(format!("there is no folder {}", dir.display()))
            }
            kind => kind.into(),
        })?;
    part.write_all(content)?;
    part.as_file().sync_all()?;
    part.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Reads the report at `path`, a file or a folder of results.
pub fn read_report(path: &Path) -> Result<Report, Error> {
    let file = if path.is_dir() {
        path.join(names::REPORT)
    } else {
        path.into()
    };
    let fail = |why: String| Error::Report {
        path: file.clone(),
        why,
    };
    let text = fs::read(&file).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NoReport { path: file.clone() },
        _ => fail(e.to_string()),
    })?;
    parse_report(&text, &file)
}

/// What to do about a report that was not written to its end.
const INSTEAD: &str =
    "`stackwitness render FOLDER --from-records` makes it from the records of its runs";

/// Reads the text of a report; `file` names it in messages.
pub fn parse_report(text: &[u8], file: &Path) -> Result<Report, Error> {
    let fail = |why: String| Error::Report {
        path: file.into(),
        why,
    };
    if text.is_empty() {
        return Err(fail(format!("the file is empty; {INSTEAD}")));
    }
    let value: serde_json::Value = serde_json::from_slice(text).map_err(|e| {
        if e.is_eof() {
            fail(format!("the report is cut off ({e}); {INSTEAD}"))
        } else {
            fail(format!(
                "not a report, which is the file {} of a run: {e}",
                names::REPORT
            ))
        }
    })?;
    match value["schema"].as_u64() {
        Some(n) if (u64::from(OLDEST_SCHEMA)..=u64::from(SCHEMA)).contains(&n) => {}
        Some(n) => {
            return Err(fail(format!(
                "its schema is {n}; this version reads schemas {OLDEST_SCHEMA} to {SCHEMA}"
            )));
        }
        None => {
            return Err(fail(format!(
                "not a report, which is the file {} of a run: it has no `schema`",
                names::REPORT
            )));
        }
    }
    // Parsed from the text, because a `serde_json::Value` loses duplicate keys.
    let report: Report =
        serde_json::from_slice(text).map_err(|e| fail(format!("not a report: {e}")))?;
    match oracle::record::flaw(&report) {
        None => Ok(report),
        Some(why) => Err(fail(why)),
    }
}

/// Joins reports into `out`, with the folders of all their runs. `paths` are those of the reports.
pub fn merge(paths: &[PathBuf], reports: Vec<Report>, out: &Path) -> Result<Report, Error> {
    let whole = oracle::merge::merge(reports).map_err(Error::Merge)?;
    for path in paths {
        let dir = if path.is_dir() {
            path
        } else {
            path.parent().unwrap_or(Path::new("."))
        };
        let runs = dir.join("runs");
        copy(&runs, &out.join("runs")).map_err(|source| Error::Out {
            path: out.into(),
            source,
        })?;
    }
    write_report(out, &whole)?;
    Ok(whole)
}

/// Copies a folder with all files and folders in it. Links are not followed: Stackwitness writes
/// none, and a link in another machine's report could lead to any file of this machine. A folder
/// that is absent counts as empty.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(from).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file()
            && fs::canonicalize(entry.path()).ok() != fs::canonicalize(&target).ok()
        {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
