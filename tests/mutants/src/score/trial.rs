//! A VM that the gate must fail or pass, and the result.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One VM, with its switch, to be judged once.
#[derive(Debug, Clone)]
pub struct Trial {
    pub name: String,
    pub does: String,
    pub jdk: PathBuf,
    /// The mistake that is switched on; `None` for an honest VM.
    pub switch: Option<String>,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Result {
    pub name: String,
    pub does: String,
    pub honest: bool,
    pub outcome: Ending,
    pub seconds: f64,
    /// How often the mistake struck.
    pub strikes: u64,
    /// The layers that failed, as the gate names them.
    pub failed: Vec<String>,
    /// The counts of the layers.
    pub layers: Vec<Counts>,
    /// The mismatches by layer and cause.
    #[serde(default)]
    pub causes: BTreeMap<String, u64>,
}

impl Result {
    /// Whether the gate gave the right answer.
    pub fn is_right(&self) -> bool {
        match self.outcome {
            Ending::Passed => self.honest,
            Ending::Failed => !self.honest,
            Ending::Crashed | Ending::NotMeasured | Ending::Deadline | Ending::Broken => false,
        }
    }
}

/// How the gate's command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Passed,
    Failed,
    /// The VM crashed or hung.
    Crashed,
    NotMeasured,
    /// The command did not end in time.
    Deadline,
    /// The command ended with an exit code that no gate has.
    Broken,
}

impl Ending {
    /// The result of an exit code of Stackwitness or of `cargo test`.
    pub fn of(code: Option<i32>) -> Self {
        match code {
            Some(0) => Self::Passed,
            Some(1 | 101) => Self::Failed,
            Some(3) => Self::NotMeasured,
            Some(4) => Self::Crashed,
            _ => Self::Broken,
        }
    }
}

/// The counts of a layer in `report.json`, as far as the score needs them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    pub layer: String,
    pub checks: u64,
    pub unverifiable: u64,
    pub window: u64,
    pub truncated: u64,
    pub wrong: u64,
    #[serde(default)]
    pub error: BTreeMap<String, u64>,
}
