//! Exact tests and bounds of shares.

use crate::probability::special::{beta, ln_gamma};
use std::ops::RangeInclusive;

/// The probability of at least `k` events in `n` trials of probability `p`.
fn at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        _ if k > n => 0.0,
        _ => beta(p, k as f64, (n - k + 1) as f64),
    }
}

/// The interval that holds the rate of `events` among `trials` with a probability of at least 1 - `alpha` (Clopper
/// and Pearson, Biometrika 26, 1934); everything without trials.
pub fn rate(events: u64, trials: u64, alpha: f64) -> RangeInclusive<f64> {
    // The tails grow with the rate: at least so many events, and more than so many.
    let solve = |k: u64, tail: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if at_least(k, trials, middle) > tail {
                high = middle
            } else {
                low = middle
            }
        }
        (low, high)
    };
    let lowest = match events {
        0 => 0.0,
        k => solve(k, 0.5 * alpha).0,
    };
    let highest = if events == trials {
        1.0
    } else {
        solve(events + 1, 1.0 - 0.5 * alpha).1
    };
    lowest..=highest
}

/// The p-value of `k` of `n` if each is one of two kinds with probability ½ (the exact test of McNemar, Psychometrika
/// 12, 1947).
pub fn even(k: u64, n: u64) -> f64 {
    let tail = at_least(k.max(n - k), n, 0.5);
    (2.0 * tail).min(1.0)
}

/// The p-value of two rates being one rate: `of_one` of `ones` events in one group, `of_other` of `others` in the other
/// (Fisher's exact test; twice the smaller tail).
pub fn same_rate((of_one, ones): (u64, u64), (of_other, others): (u64, u64)) -> f64 {
    let events = of_one + of_other;
    let ln_choose = |n: u64, k: u64| {
        let of = |n: u64| ln_gamma(n as f64 + 1.0);
        of(n) - of(k) - of(n - k)
    };
    let whole = ln_choose(ones + others, events);
    let exactly = |k: u64| (ln_choose(ones, k) + ln_choose(others, events - k) - whole).exp();
    let lowest = events.saturating_sub(others);
    let highest = ones.min(events);
    // The terms of a tail fall: what is below this does not count.
    const NOTHING: f64 = 1e-18;
    let sum = |range: &mut dyn Iterator<Item = u64>| -> f64 {
        let terms = range.map(exactly);
        let mut started = false;
        let tail = terms.take_while(|&term| {
            let goes_on = !started || term > NOTHING;
            started |= term > NOTHING;
            goes_on
        });
        tail.sum()
    };
    // The tail away from the mean: its terms fall from the first on.
    let mean = events as f64 * ones as f64 / (ones + others).max(1) as f64;
    let tail = if (of_one as f64) < mean {
        sum(&mut (lowest..=of_one).rev())
    } else {
        sum(&mut (of_one..=highest))
    };
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        // R: binom.test(3, 20)$conf.int
        let interval = rate(3, 20, 0.05);
        assert!(
            (interval.start() - 0.032_070_9).abs() < 1e-6,
            "{interval:?}"
        );
        assert!((interval.end() - 0.378_926_9).abs() < 1e-6, "{interval:?}");
        assert_eq!(rate(0, 0, 0.05), 0.0..=1.0);
        assert_eq!(
            (*rate(0, 9, 0.05).start(), *rate(9, 9, 0.05).end()),
            (0.0, 1.0)
        );
        // 2 * (1 + 10 + 45) / 1024
        assert!((even(8, 10) - 0.109_375).abs() < 1e-12);
        assert_eq!(even(5, 10), 1.0);
        assert_eq!(even(0, 0), 1.0);
        // Fisher's tea: of 4 cups 3 right. One tail is 17/70.
        assert!((same_rate((3, 4), (1, 4)) - 34.0 / 70.0).abs() < 1e-12);
    }

    proptest! {
        /// The bounds are the rates at which so few or so many events are just improbable enough.
        #[test]
        fn bounds_have_the_tails_that_they_promise(n in 1u64..300, share in 0.0f64..=1.0) {
            let k = (share * n as f64) as u64;
            let interval = rate(k, n, 0.05);
            prop_assert!(*interval.start() <= k as f64 / n as f64 && k as f64 / n as f64 <= *interval.end());
            if k > 0 {
                prop_assert!((at_least(k, n, *interval.start()) - 0.025).abs() < 1e-9);
            }
            if k < n {
                prop_assert!((1.0 - at_least(k + 1, n, *interval.end()) - 0.025).abs() < 1e-9);
            }
        }

        #[test]
        fn p_values_are_probabilities(a in 0u64..200, b in 0u64..200, c in 0u64..200, d in 0u64..200) {
            let p = same_rate((a, a + b), (c, c + d));
            prop_assert!((0.0..=1.0).contains(&p));
            // It does not matter which group is the first.
            prop_assert!((p - same_rate((c, c + d), (a, a + b))).abs() < 1e-9);
        }
    }
}
