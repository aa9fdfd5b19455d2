//! What a report shows of a known issue.

use super::issue::KnownIssue;
use crate::bound;
use crate::gate::outcome::Outcome;
use crate::gate::reason::{Objection, Subject};
use crate::numbers::{count, exact};

/// What a report shows of a known issue.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownSeen {
    /// Its name.
    pub id: String,
    /// Where to read about it.
    pub link: String,
    /// Its mismatches.
    pub mismatches: u64,
    /// The checks that were decided in the runs that could show the issue; above 0.
    pub decided: u64,
    /// The highest rate at which it may appear, from 0 to 1.
    pub max_rate: f64,
    /// How it stands.
    pub standing: KnownStanding,
}

/// How a known issue stands against its rate.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum KnownStanding {
    /// The upper 95 % bound of its rate is within what the issue may have.
    Expected,
    /// It was not seen: an unexpected pass.
    Passes,
    /// The observed rate is higher.
    TooMany,
    /// The rate is within, its upper bound is not. So many more checks without the issue would bring
    /// the bound there.
    TooFew(u64),
}

impl KnownSeen {
    pub(super) fn new(issue: &KnownIssue, mismatches: u64, decided: u64) -> KnownSeen {
        let max_rate = issue.max_rate;
        let is_sure = || bound::upper95(mismatches, decided).is_some_and(|upper| upper <= max_rate);
        let standing = if mismatches == 0 {
            KnownStanding::Passes
        } else if mismatches as f64 > max_rate * decided as f64 {
            KnownStanding::TooMany
        } else if is_sure() {
            KnownStanding::Expected
        } else {
            let needed = bound::trials_needed(mismatches, max_rate).unwrap_or(u64::MAX);
            KnownStanding::TooFew(needed.saturating_sub(decided).max(1))
        };
        KnownSeen {
            id: issue.id.clone(),
            link: issue.link.clone(),
            mismatches,
            decided,
            max_rate,
            standing,
        }
    }

    /// What speaks against the report, if anything does.
    pub(in crate::gate) fn objection(&self) -> Option<Objection> {
        let KnownSeen {
            id,
            mismatches,
            decided,
            max_rate,
            ..
        } = self;
        let [bad, all] = [*mismatches, *decided].map(count);
        let of = format!("{bad} mismatches in {all} checks");
        let rate = exact(*max_rate);
        let (outcome, text) = match self.standing {
            KnownStanding::Expected | KnownStanding::Passes => return None,
            KnownStanding::TooMany => (
                Outcome::Over,
                format!("{id}: known, but {of} are more than its rate of {rate}"),
            ),
            KnownStanding::TooFew(more) => (
                Outcome::NotMeasured,
                format!(
                    "{id}: known, but {of} are too few checks for its rate of {rate}; it needs {} more",
                    count(more)
                ),
            ),
        };
        Some(Objection::new(
            outcome,
            Subject::KnownIssue(id.clone()),
            text,
        ))
    }
}
