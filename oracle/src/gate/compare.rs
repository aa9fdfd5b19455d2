//! Whether one report is better or worse than another, by Fisher's exact test: given how
//! many mismatches both have together, how likely is it that so many of them (or more, or
//! fewer) fall to the new one by chance?

use crate::Layer;
use crate::bound::ln_choose;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::tally::Tally;

/// What a comparison says about a layer.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Trend {
    /// The new one has fewer mismatches than chance explains.
    Better,
    /// The new one has more.
    Worse,
    /// Chance explains the difference.
    NoEvidence,
    /// One of them has no data.
    NoData,
}

/// The comparison of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The layer.
    pub layer: Layer,
    /// Mismatches and decided checks of the old one.
    pub base: (u64, u64),
    /// Mismatches and decided checks of the new one.
    pub new: (u64, u64),
    /// Probability of a difference so large in its direction by chance.
    pub p: Option<f64>,
    /// What it says.
    pub trend: Trend,
}

/// Compares two reports in each layer that one of them has. `alpha` is the probability with
/// which two equal JVMs may be told apart, shared between both directions.
pub fn compare(base: &Report, new: &Report, alpha: f64) -> Vec<Change> {
    let tally = |report: &Report, layer| {
        let counts = report.layers.iter().find(|counts| counts.layer == layer);
        counts.map(|counts| counts.tally())
    };
    let mut changes = vec![];
    for layer in Layer::ALL {
        let (old, new) = (tally(base, layer), tally(new, layer));
        if old.is_none() && new.is_none() {
            continue;
        }
        let counts = |tally: Option<Tally>| tally.map_or((0, 0), |t| (t.mismatches(), t.decided()));
        changes.push(change(layer, counts(old), counts(new), alpha));
    }
    changes
}

/// What a comparison comes to: worse is over budget.
pub fn outcome(changes: &[Change]) -> Outcome {
    let has = |trend| changes.iter().any(|change| change.trend == trend);
    if has(Trend::Worse) {
        Outcome::Over
    } else if has(Trend::NoData) || changes.is_empty() {
        Outcome::NotMeasured
    } else {
        Outcome::Within
    }
}

fn change(layer: Layer, base: (u64, u64), new: (u64, u64), alpha: f64) -> Change {
    let mut change = Change {
        layer,
        base,
        new,
        p: None,
        trend: Trend::NoData,
    };
    if base.1 == 0 || new.1 == 0 {
        return change;
    }
    let more = at_least(new.0, new.1, base.0, base.1);
    let fewer = at_least(base.0, base.1, new.0, new.1);
    change.p = Some(more.min(fewer));
    change.trend = if more <= alpha / 2.0 {
        Trend::Worse
    } else if fewer <= alpha / 2.0 {
        Trend::Better
    } else {
        Trend::NoEvidence
    };
    change
}

/// The probability that at least `x` of the `x + y` mismatches fall among the first `n` of
/// `n + m` checks.
fn at_least(x: u64, n: u64, y: u64, m: u64) -> f64 {
    let all = x + y;
    let ln_first = ln_choose(n, x) + ln_choose(m, y) - ln_choose(n + m, all);
    let (mut ratio, mut sum) = (1.0f64, 0.0);
    for i in x..=all.min(n) {
        sum += ratio;
        // m checks have to hold the other all - i mismatches.
        let next = (n - i) as f64 * (all - i) as f64
            / ((i + 1) as f64 * ((m + i + 1) as f64 - all as f64));
        ratio *= next;
        if next < 1.0 && ratio < sum * 1e-18 {
            break;
        }
    }
    (ln_first + sum.ln()).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choose(n: u64, k: u64) -> u128 {
        (0..k).fold(1, |c, j| c * u128::from(n - j) / u128::from(j + 1))
    }

    /// In whole numbers up to the last division.
    fn exactly(x: u64, n: u64, y: u64, m: u64) -> f64 {
        let all = x + y;
        let ways: u128 = (x..=all.min(n))
            .filter(|i| all - i <= m)
            .map(|i| choose(n, i) * choose(m, all - i))
            .sum();
        ways as f64 / choose(n + m, all) as f64
    }

    proptest! {
        #[test]
        fn the_test_is_exact(n in 1u64..30, m in 1u64..30, x in 0u64..30, y in 0u64..30) {
            prop_assume!(x <= n && y <= m);
            let (p, expected) = (at_least(x, n, y, m), exactly(x, n, y, m));
            prop_assert!((p - expected).abs() <= 1e-11 * expected, "{} is not {}", p, expected);
        }

        #[test]
        fn a_report_is_no_better_than_itself(k in 0u64..1000, n in 1000u64..100_000_000) {
            prop_assert_eq!(change(Layer::Gst, (k, n), (k, n), 0.05).trend, Trend::NoEvidence);
        }

        #[test]
        fn better_and_worse_are_two_sides(k in 0u64..60, n in 100u64..5000, l in 0u64..60, m in 100u64..5000) {
            let there = change(Layer::Gst, (k, n), (l, m), 0.01).trend;
            let back = change(Layer::Gst, (l, m), (k, n), 0.01).trend;
            let turned = match there {
                Trend::Better => Trend::Worse,
                Trend::Worse => Trend::Better,
                same => same,
            };
            prop_assert_eq!(back, turned);
        }
    }

    #[test]
    fn a_clear_change_is_told() {
        assert_eq!(
            change(Layer::Gst, (0, 100_000), (40, 100_000), 0.01).trend,
            Trend::Worse
        );
        assert_eq!(
            change(Layer::Gst, (40, 100_000), (0, 100_000), 0.01).trend,
            Trend::Better
        );
        assert_eq!(
            change(Layer::Gst, (0, 100_000), (1, 100_000), 0.01).trend,
            Trend::NoEvidence
        );
        assert_eq!(
            change(Layer::Gst, (0, 0), (1, 100), 0.01).trend,
            Trend::NoData
        );
    }
}
