//! The request of a session, which is on disk from the session's start.

use crate::Error;
use crate::store::{self, names};
use oracle::report::Report;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The file of a session: a report without runs, and the facts that no report has.
#[derive(Serialize)]
pub(crate) struct Request<'r> {
    #[serde(flatten)]
    own: Own,
    #[serde(flatten)]
    report: &'r Report,
}

/// The facts that no report has.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Own {
    /// The id of the session, which tells its runs from other runs in the same folder; empty in
    /// files of earlier versions.
    #[serde(default)]
    pub session: String,
    /// How many runs the session should make, without those of other shards; absent in files of
    /// earlier versions.
    #[serde(default)]
    pub jobs: Option<usize>,
}

impl<'r> Request<'r> {
    pub fn new(session: &str, jobs: usize, report: &'r Report) -> Request<'r> {
        Request {
            own: Own {
                session: session.into(),
                jobs: Some(jobs),
            },
            report,
        }
    }

    /// Writes the request into the folder of the results.
    pub fn write(&self, out: &Path) -> Result<(), Error> {
        store::write_json(&out.join(names::SESSION), self)
    }
}

/// Reads the request of the session in `out`.
pub(super) fn read(out: &Path) -> Result<(Own, Report), Error> {
    let path = out.join(names::SESSION);
    let report = store::read_report(&path)?;
    let own = fs::read(&path).map_err(|e| e.to_string());
    let own = own.and_then(|text| serde_json::from_slice(&text).map_err(|e| e.to_string()));
    match own {
        Ok(own) => Ok((own, report)),
        Err(why) => Err(Error::Report { path, why }),
    }
}
