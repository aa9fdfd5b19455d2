//! Where a report comes from: the machine, the time, and the command that made it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the runs of one session come from. A merged report has one origin for each of its parts.
///
/// Reports of earlier versions have no origin. What a machine does not say stays empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Start of the session, in UTC, as RFC 3339 writes it: `2026-11-25T21:02:07Z`.
    pub started: String,
    /// Duration of the session so far, in seconds.
    pub seconds: f64,
    /// Name of the machine.
    pub host: String,
    /// Name of the kernel with its release, such as `Linux 6.1.0`.
    pub system: String,
    /// Architecture of the processor, as Rust's `std::env::consts::ARCH` names it.
    pub arch: String,
    /// Model of the processor.
    pub processor: String,
    /// Number of processors that the session may use, from `sched_getaffinity(2)` and the limits of cgroups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// Memory of the machine, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Load average of the last minute before the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// Load average of the last minute after the last run. The session's own JVMs are part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_after: Option<f64>,
    /// Words of the command line.
    pub command: Vec<String>,
    /// Version of Stackwitness.
    pub version: String,
    /// Commit from which Stackwitness was built, with `+changes` if files differed from the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// SHA-256 of the scenario's text, in hexadecimal digits. A program of `run -- JAVA_ARGS` alone has no such text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario_sha256: Option<String>,
    /// Variables of the environment from which JVMs take options: `JAVA_TOOL_OPTIONS` and its kin.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub java_environment: BTreeMap<String, String>,
}
