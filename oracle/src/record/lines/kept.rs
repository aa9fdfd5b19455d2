//! Mismatches that the agent keeps.

use super::mismatch::Mismatch;
use serde::{Deserialize, Serialize};

/// A mismatch that the agent keeps, until another mismatch replaces it. So the kept mismatches of
/// one layer, verdict and cause in a run are a uniform sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The index in the sample; absent in records that keep all mismatches.
    #[serde(default)]
    pub place: Option<u32>,
    /// The mismatch.
    #[serde(flatten)]
    pub mismatch: Mismatch,
}

impl Kept {
    /// Whether this mismatch replaces `older`.
    pub fn replaces(&self, older: &Kept) -> bool {
        let kind = |kept: &Kept| (kept.place, kept.mismatch.layer, kept.mismatch.verdict);
        self.place.is_some()
            && kind(self) == kind(older)
            && self.mismatch.cause == older.mismatch.cause
    }
}
