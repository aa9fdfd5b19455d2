//! Whether a fault was detected.

use super::inject::WalkerAnswer;
use crate::Verdict;
use crate::judge::{Expected, Truth, Unseen};
use crate::trace::Frame;
use serde::{Deserialize, Serialize};

/// How a fault ended.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// The faulty answer was reported under the right verdict.
    Caught,
    /// The faulty answer was reported, but not under the right verdict.
    Misjudged,
    /// The faulty answer was not reported, and could not be, for this reason.
    Explained(Unseen),
    /// The faulty answer was not reported.
    Missed,
}

impl Detection {
    /// Compares the verdict on a faulty answer with the right verdict.
    pub fn of(expected: Expected, given: Verdict) -> Detection {
        let reported = !matches!(
            given,
            Verdict::Match | Verdict::Window | Verdict::Unverifiable
        );
        match expected {
            Expected::Verdict(right) if right == given => Detection::Caught,
            Expected::Unseen(reason) if !reported => Detection::Explained(reason),
            Expected::Unseen(Unseen::BetweenRecords) if given == Verdict::Imprecise => {
                Detection::Explained(Unseen::BetweenRecords)
            }
            _ if reported => Detection::Misjudged,
            _ => Detection::Missed,
        }
    }
}

/// The expected end of the faulty `answer` in place of `honest`, a walk without a mismatch.
pub fn expected(
    truth: &(impl Truth + ?Sized),
    honest: &[Frame],
    answer: &WalkerAnswer,
) -> Expected {
    match answer {
        WalkerAnswer::Error(code) => Expected::Verdict(Verdict::Error(*code)),
        WalkerAnswer::Stack(faulty) => truth.expected(honest, faulty),
    }
}
