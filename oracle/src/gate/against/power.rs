//! What a report could have shown: how small a share of false stacks would have failed it?

use super::pair::{Novel, Pair};
use crate::Layer;
use crate::gate::baseline::{Cell, What};
use crate::gate::stats::predict::Predicted;

/// What one layer of a report could have shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Power {
    /// The layer.
    pub layer: Layer,
    /// Its checks, in all programs.
    pub checks: u64,
    /// How long the programs that measured it ran, in seconds.
    pub seconds: f64,
    /// The smallest share of false stacks of a kind that no run of the baseline had that would have
    /// failed with probability 0.95.
    pub new_kind: f64,
    /// The corresponding share for the most frequent kind of the baseline.
    pub known_kind: f64,
}

/// The user's demand: this share of false stacks, from 0 to 1, must be seen.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Detect(pub f64);

/// The probability of a failure for which the power is computed.
pub const SURE: f64 = 0.95;

impl Power {
    /// How many more checks would be needed to see this share of a new kind; 0 if there are enough.
    pub fn missing(&self, detect: Detect) -> u64 {
        let needed = self.new_kind * self.checks as f64 / detect.0;
        (needed.ceil() as u64).saturating_sub(self.checks)
    }

    /// How many minutes such a number of checks takes.
    pub fn minutes(&self, checks: u64) -> f64 {
        checks as f64 / self.checks.max(1) as f64 * self.seconds / 60.0
    }
}

/// The power of each layer. For an honest JVM, a new kind fails with the probability `of_kinds`,
/// and the rate of one cell fails with the probability `of_one_rate`.
pub(super) fn powers(pair: &Pair<'_>, of_kinds: f64, of_one_rate: f64) -> Vec<Power> {
    let new_limit = pair.novelty(Novel::Kinds).limit(of_kinds);
    let mut powers = vec![];
    for (cell, counts) in &pair.new.counts {
        if !cell.is_of_all_programs() || cell.what != What::Checks {
            continue;
        }
        let checks: u64 = counts.iter().sum();
        if checks == 0 {
            continue;
        }
        let of_known = known_kinds(pair, cell.layer).map(|known| {
            let (base, new) = pair.series(known);
            let predicted = pair.predicted(known, &base, new.trials());
            events(predicted.limit(of_one_rate), |more| predicted.plus(more))
        });
        let time = Cell {
            what: What::Milliseconds,
            ..cell.clone()
        };
        let of_new = events(new_limit, Predicted::poisson);
        powers.push(Power {
            layer: cell.layer,
            checks,
            seconds: pair.new.total(&time) as f64 / 1e3,
            new_kind: of_new / checks as f64,
            known_kind: of_known.fold(of_new, f64::max) / checks as f64,
        });
    }
    powers
}

/// The kinds of mismatches that the baseline has in a layer, over all programs.
fn known_kinds<'a>(pair: &'a Pair<'_>, layer: Layer) -> impl Iterator<Item = &'a Cell> {
    let is_kind = move |cell: &&Cell| {
        cell.layer == layer
            && cell.is_of_all_programs()
            && cell.place.is_none()
            && matches!(cell.what, What::Wrong(_) | What::Truncated(_))
    };
    pair.base.counts.keys().filter(is_kind)
}

/// How many false stacks are needed on average for a count of `limit` with probability [`SURE`].
fn events(limit: u64, count: impl Fn(f64) -> Predicted) -> f64 {
    let is_sure = |mean: f64| count(mean).binomial_at_least(limit) >= SURE;
    let mut high = 1.0;
    while !is_sure(high) {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if is_sure(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
