//! The exact one-sided confidence bound on a rate (Clopper and Pearson, Biometrika 26, 1934): the
//! smallest rate with which so few events have a probability of at most 5 %.

/// The probability with which the true rate may lie above the bound.
const ALPHA: f64 = 0.05;

/// Upper 95 % bound of the rate of `events` among `trials`; `None` without trials.
///
/// Never below the true bound by more than the rounding of `f64`: the bisection returns
/// the upper end of its last interval.
pub fn upper95(events: u64, trials: u64) -> Option<f64> {
    if trials == 0 || events > trials {
        return None;
    }
    if events == trials {
        return Some(1.0);
    }
    if events == 0 {
        return Some(-(ALPHA.ln() / trials as f64).exp_m1());
    }
    let ln_choose = ln_choose(trials, events);
    let (mut low, mut high) = (events as f64 / trials as f64, 1.0);
    while high - low > high * 1e-14 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if at_most(events, trials, middle, ln_choose) > ALPHA {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// How many trials without a further event bring the bound of `events` to `limit` or below; `None`
/// if no number is enough.
pub fn trials_needed(events: u64, limit: f64) -> Option<u64> {
    if limit.is_nan() || limit <= 0.0 {
        return None;
    }
    let enough = |trials: u64| upper95(events, trials).is_some_and(|bound| bound <= limit);
    let mut high = events.max(1);
    while !enough(high) {
        high = high.checked_mul(2)?;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    Some(high)
}

/// P(X <= k) for X binomial with `n` trials of probability `p`, for k at or below the mean:
/// summed downward from the term at `k`, which is the largest.
fn at_most(k: u64, n: u64, p: f64, ln_choose: f64) -> f64 {
    let (k_, n_) = (k as f64, n as f64);
    let ln_top = ln_choose + k_ * p.ln() + (n_ - k_) * (-p).ln_1p();
    let odds = (1.0 - p) / p;
    let (mut term, mut sum) = (1.0, 0.0);
    for i in (0..=k).rev() {
        sum += term;
        term *= i as f64 / (n - i + 1) as f64 * odds;
        if term < sum * 1e-18 {
            break;
        }
    }
    (ln_top + sum.ln()).exp()
}

/// Logarithm of the binomial coefficient.
fn ln_choose(n: u64, k: u64) -> f64 {
    let k = k.min(n - k);
    if k <= MAX_FACTORS {
        // A product loses less than a difference of large logarithms.
        return (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum();
    }
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Above this many events the bound is so close to the rate that the rounding of Stirling's series
/// vanishes.
const MAX_FACTORS: u64 = 1 << 20;

/// Stirling's series; its error is far below rounding above [`MAX_FACTORS`].
fn ln_factorial(n: u64) -> f64 {
    let x = n as f64;
    (x + 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b
    }

    #[test]
    fn known_values() {
        // Bisection on the binomial sum in decimal arithmetic of 50 digits.
        for (k, n, expected) in [
            (0, 1_000_000, 2.995727786352544e-6),
            (1, 1_000_000, 4.743_855_638_206_81e-6),
            (1, 10, 3.941633024365048e-1),
            (5, 10, 7.775588989918709e-1),
            (3, 10_000, 7.751813790100998e-4),
            (40, 5_000, 1.040_129_123_396_98e-2),
        ] {
            let bound = upper95(k, n).expect("there are trials");
            assert!(
                close(bound, expected, 1e-12),
                "{k} of {n}: {bound} is not {expected}"
            );
        }
        assert_eq!(upper95(7, 7), Some(1.0));
        assert_eq!(upper95(0, 0), None);
    }

    #[test]
    fn needed_trials_are_the_fewest() {
        assert_eq!(trials_needed(0, 1e-3), Some(2995));
        assert_eq!(trials_needed(0, 0.0), None);
        for (k, limit) in [(0, 0.01), (3, 0.001), (40, 0.02)] {
            let n = trials_needed(k, limit).expect("the limit is positive");
            assert!(upper95(k, n).unwrap() <= limit && upper95(k, n - 1).unwrap() > limit);
        }
    }

    proptest! {
        #[test]
        fn bound_has_its_tail_probability(n in 1u64..400, k in 0u64..400) {
            prop_assume!(k < n);
            let p = upper95(k, n).expect("there are trials");
            // The tail summed from its smallest term, term by term.
            let tail: f64 = (0..=k)
                .map(|i| {
                    let choose: f64 = (1..=i).map(|j| ((n - i + j) as f64 / j as f64).ln()).sum();
                    (choose + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp()
                })
                .sum();
            prop_assert!(close(tail, ALPHA, 1e-9), "{}", tail);
        }

        #[test]
        fn bound_lies_above_the_rate_and_falls_with_trials(n in 1u64..1_000_000_000, k in 0u64..5000) {
            prop_assume!(k < n);
            let bound = upper95(k, n).expect("there are trials");
            prop_assert!(bound > k as f64 / n as f64);
            prop_assert!(upper95(k, n + 1).unwrap() <= bound * (1.0 + 1e-9));
        }
    }
}
