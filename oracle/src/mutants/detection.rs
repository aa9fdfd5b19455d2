//! Whether a fault was detected.

use super::expected::{Expected, Unseen};
use crate::Verdict;
use serde::{Deserialize, Serialize};

/// What became of one fault.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// The faulty answer was reported under the right verdict.
    Caught,
    /// The faulty answer was reported under another verdict than the right one.
    Misjudged,
    /// The faulty answer was not reported, and could not be, for this reason.
    Explained(Unseen),
    /// The faulty answer was not reported.
    Missed,
}

impl Detection {
    /// Compares the verdict that a faulty answer was given with the right one.
    pub fn of(expected: Expected, given: Verdict) -> Detection {
        let reported = !matches!(
            given,
            Verdict::Match | Verdict::Window | Verdict::Unverifiable
        );
        match expected {
            Expected::Verdict(right) if right == given => Detection::Caught,
            Expected::Unseen(reason) if !reported => Detection::Explained(reason),
            _ if reported => Detection::Misjudged,
            _ => Detection::Missed,
        }
    }
}
