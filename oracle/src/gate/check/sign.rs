//! The evidence that one side of many pairs has more than the other.

use crate::probability::special::{beta, ln_gamma};
use std::f64::consts::LN_2;

/// Pairs in which one side had more, and pairs in which it had less.
///
/// If both sides are equal, more and less are equally likely in each pair, whatever happened before. The
/// evidence is the capital of a gambler who starts with 1, bets on "more" in each pair, and knows no better
/// than fair odds. The capital is a supermartingale, so it reaches `c` at any time with a probability of at
/// most `1 / c` (Ville, Étude critique de la notion de collectif, 1939; Ramdas, Grünwald, Vovk and Shafer,
/// Game-theoretic statistics and safe anytime-valid inference, Statistical Science 38, 2023).
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct SignTest {
    /// Pairs in which the side had more.
    pub more: u32,
    /// Pairs in which it had less.
    pub less: u32,
}

/// One half of the capital expects "more" in this share of the pairs: mistakes that nearly every pair shows.
const NEARLY_ALWAYS: f64 = 0.97;

impl SignTest {
    /// Counts a pair.
    pub fn add(&mut self, more: bool) {
        if more {
            self.more += 1;
        } else {
            self.less += 1;
        }
    }

    /// The natural logarithm of the evidence.
    pub fn ln_evidence(self) -> f64 {
        // A gambler who expects "more" with probability p >= 1/2 stakes so that each "more" multiplies the capital by
        // 2 p, and each "less" by 2 (1 - p). If "more" has a probability of at most 1/2, the mean of both factors is at
        // most 1. Dividing the capital among several values of p keeps that (the method of mixtures: Robbins,
        // Statistical methods related to the law of the iterated logarithm, 1970). One half goes to one value of p,
        // the other half evenly to all values from 1/2 to 1, whose product has an integral in closed form:
        //   2^n * 2 * B(more + 1, less + 1) * P(Beta(more + 1, less + 1) >= 1/2)
        let (more, less) = (f64::from(self.more), f64::from(self.less));
        let fixed = more * (2.0 * NEARLY_ALWAYS).ln() + less * (2.0 * (1.0 - NEARLY_ALWAYS)).ln();
        let (a, b) = (more + 1.0, less + 1.0);
        let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
        // The upper tail of Beta(a, b) at 1/2 is the lower tail of Beta(b, a).
        let even = (more + less + 1.0) * LN_2 + ln_beta + beta(0.5, b, a).ln();
        let larger = fixed.max(even);
        larger + ((fixed - larger).exp() + (even - larger).exp()).ln() - LN_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;
    use proptest::prelude::*;

    fn evidence(more: u32, less: u32) -> f64 {
        SignTest { more, less }.ln_evidence().exp()
    }

    #[test]
    fn known_values() {
        assert!((evidence(0, 0) - 1.0).abs() < 1e-12);
        // Halves: 2 * 0.97 and the integral of 2 * 2 p from 1/2 to 1.
        assert!((evidence(1, 0) - 0.5 * (1.94 + 1.5)).abs() < 1e-12);
        assert!((evidence(0, 1) - 0.5 * (0.06 + 0.5)).abs() < 1e-12);
    }

    proptest! {
        /// With fair signs the mean of the next capital is the capital that there is, or less.
        #[test]
        fn the_game_is_not_better_than_fair(more in 0u32..300, less in 0u32..300) {
            let next = 0.5 * (evidence(more + 1, less) + evidence(more, less + 1));
            prop_assert!(next <= evidence(more, less) * (1.0 + 1e-9));
        }

        #[test]
        fn each_pair_counts(more in 0u32..300, less in 0u32..300) {
            prop_assert!(evidence(more + 1, less) > evidence(more, less));
            prop_assert!(evidence(more, less + 1) < evidence(more, less));
        }
    }

    /// Over all looks, and not at one look: 4,000 courses of 300 fair pairs each.
    #[test]
    fn fair_signs_reach_twenty_in_at_most_one_course_of_twenty() {
        const COURSES: u64 = 4000;
        let alarms = (0..COURSES).filter(|&course| {
            let mut test = SignTest::default();
            (0..300).any(|pair| {
                test.add(mix(course << 32 | pair) & 1 == 1);
                test.ln_evidence() >= 20f64.ln()
            })
        });
        let share = alarms.count() as f64 / COURSES as f64;
        assert!(share <= 0.05, "{share}");
        // Not a test that cannot fail: a bet that never risks anything would never reach it.
        assert!(share > 0.002, "{share}");
    }
}
