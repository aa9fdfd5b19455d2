//! Mismatches that the agent keeps.

use super::mismatch::Mismatch;
use serde::{Deserialize, Serialize};

/// A mismatch that the agent keeps, until another one takes its place: so the mismatches of one layer,
/// verdict and cause in a run are a uniform sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The place in the sample; none in records that keep all.
    #[serde(default)]
    pub place: Option<u32>,
    /// The mismatch.
    #[serde(flatten)]
    pub mismatch: Mismatch,
}

impl Kept {
    /// Whether this takes the place of `older`.
    pub fn replaces(&self, older: &Kept) -> bool {
        let kind = |kept: &Kept| (kept.place, kept.mismatch.layer, kept.mismatch.verdict);
        self.place.is_some()
            && kind(self) == kind(older)
            && self.mismatch.cause == older.mismatch.cause
    }
}
