//! The special functions that tail probabilities are made of.

/// From here on the series is exact to the last bits of an `f64`.
const LARGE: f64 = 12.0;

/// ln Γ(x) for x > 0, by Stirling's series (Abramowitz and Stegun, 6.1.41); a small argument is
/// brought up by Γ(x + 1) = x Γ(x).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut factor) = (x, 1.0);
    while x < LARGE {
        factor *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0
        + inverse
            * (-1.0 / 360.0
                + inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(factor)
}

/// So many steps at most; far more than the arguments of a gate need.
const STEPS: u32 = 100_000;

/// The regularized incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1, by its continued
/// fraction (Abramowitz and Stegun, 26.5.8) in Lentz's way.
pub(crate) fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - fraction(1.0 - x, b, a);
    }
    fraction(x, a, b)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let whole = |value: f64| {
        let tiny = f64::MIN_POSITIVE * 1e10;
        if value.abs() < tiny { tiny } else { value }
    };
    let (mut c, mut d) = (1.0, 1.0 / whole(1.0 - (a + b) * x / (a + 1.0)));
    let mut sum = d;
    for step in 1..=STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / whole(1.0 + even * d);
        c = whole(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / whole(1.0 + odd * d);
        c = whole(1.0 + odd / c);
        sum *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front.exp() * sum / a).clamp(0.0, 1.0)
}

/// P(T >= t) for Student's t with `freedom` degrees of freedom (Abramowitz and Stegun, 26.7.1).
pub(crate) fn student_at_least(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5);
    if t >= 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_and_half_arguments_are_known() {
        let mut factorial = 1.0f64;
        for n in 1..=30u32 {
            let error = ln_gamma(f64::from(n)) - factorial.ln();
            assert!(
                error.abs() < 1e-13 * factorial.ln().max(1.0),
                "{n}: {error}"
            );
            factorial *= f64::from(n);
        }
        let half = 0.5 * std::f64::consts::PI.ln();
        assert!((ln_gamma(0.5) - half).abs() < 1e-14);
    }

    #[test]
    fn a_tail_of_student_with_two_degrees_is_algebraic() {
        for t in [0.0f64, 0.5, 3.0, 40.0, 1e4] {
            let exact = 0.5 * (1.0 - t / (2.0 + t * t).sqrt());
            // 1 - x loses what is beyond 1e-16.
            let error = student_at_least(t, 2.0) - exact;
            assert!(error.abs() <= 1e-15 + 1e-6 * exact, "{t}: {error}");
        }
    }

    proptest! {
        /// I_p(k, n - k + 1) is the probability of at least k successes in n trials.
        #[test]
        fn the_incomplete_beta_function_is_a_binomial_tail(n in 1u64..60, k in 1u64..60, p in 0.001f64..0.999) {
            prop_assume!(k <= n);
            let term = |i: u64| {
                let choose: f64 = (1..=i).map(|j| ((n - i + j) as f64 / j as f64).ln()).sum();
                (choose + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp()
            };
            let tail: f64 = (k..=n).rev().map(term).sum();
            let found = beta(p, k as f64, (n - k + 1) as f64);
            prop_assert!((found - tail).abs() <= 1e-11 * tail + 1e-15, "{} {}", found, tail);
        }

        #[test]
        fn the_recurrence_holds(x in 1e-6f64..1e6) {
            let (left, right) = (ln_gamma(x + 1.0), ln_gamma(x) + x.ln());
            prop_assert!((left - right).abs() <= 1e-13 * left.abs().max(1.0), "{} {}", left, right);
        }
    }
}
