//! What a count should be, by the runs of a baseline.
//!
//! Counts of runs are taken to be negative binomial: Poisson counts of clusters, with a variance of φ
//! times the mean. The prediction of a new run adds what the baseline does not know of the mean. So
//! the predicted count has mean m = n (K + ½) / N and variance m φ + m² φ / (K + ½), where the
//! baseline has K events in N trials and the new run n trials; the ½ is that of Jeffreys' prior. The
//! negative binomial with this mean and variance gives the tail probabilities (Lawless, Negative
//! binomial and mixed Poisson regression, Canadian Journal of Statistics 15, 1987).
//!
//! φ itself is only estimated, so a count is compared with Student's t too, and the larger of both
//! probabilities holds (compare the quasi-likelihood test of Lund and others, Detecting differential
//! expression in RNA-sequence data, Statistical Applications in Genetics and Molecular Biology 11,
//! 2012).

use super::dispersion::Series;
use crate::probability::special::{beta, student_at_least};

/// A count that is not known yet.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(in crate::gate) struct Predicted {
    /// The mean, above 0.
    pub mean: f64,
    /// The variance, at least the mean.
    pub variance: f64,
    /// The degrees of freedom with which the variance is known.
    freedom: f64,
}

/// A variance that is hardly above the mean stands for the Poisson distribution.
const POISSON: f64 = 1e-7;

impl Predicted {
    /// The count of a new run of `n` trials, by a baseline that has trials, and its dispersion with the degrees of freedom.
    pub fn new(base: &Series, (phi, freedom): (f64, f64), n: f64) -> Predicted {
        let known = base.events() as f64 + 0.5;
        let mean = n * known / base.trials();
        // What differs between runs does not become less in a longer run.
        let longer = (n / base.usual_trials()).max(1.0);
        let of_run = 1.0 + (phi - 1.0) * longer;
        Predicted {
            mean,
            variance: mean * of_run + mean * mean * phi / known,
            freedom,
        }
    }

    /// A count of events of which each comes by itself, with this mean, above 0.
    pub fn poisson(mean: f64) -> Predicted {
        Predicted {
            mean,
            variance: mean,
            freedom: f64::INFINITY,
        }
    }

    /// With so many more events, of which each comes by itself.
    pub fn plus(self, events: f64) -> Predicted {
        Predicted {
            mean: self.mean + events,
            variance: self.variance + events,
            freedom: self.freedom,
        }
    }

    /// The number of successes `r` and the probability `p` of a further event.
    fn parameters(self) -> (f64, f64) {
        let variance = self.variance.max(self.mean * (1.0 + POISSON));
        let r = self.mean * self.mean / (variance - self.mean);
        (r, 1.0 - self.mean / variance)
    }

    /// The probability of a negative binomial count of at least `k`.
    pub fn binomial_at_least(self, k: u64) -> f64 {
        let (r, p) = self.parameters();
        if k == 0 { 1.0 } else { beta(p, k as f64, r) }
    }

    /// The probability of a negative binomial count of at most `k`.
    pub fn binomial_at_most(self, k: u64) -> f64 {
        let (r, p) = self.parameters();
        beta(1.0 - p, r, k as f64 + 1.0)
    }

    /// The probability, at most, of a count of at least `k`.
    pub fn at_least(self, k: u64) -> f64 {
        let t = (k as f64 - 0.5 - self.mean) / self.variance.sqrt();
        self.binomial_at_least(k)
            .max(student_at_least(t, self.freedom))
    }

    /// The probability, at most, of a count of at most `k`.
    pub fn at_most(self, k: u64) -> f64 {
        let t = (self.mean - k as f64 - 0.5) / self.variance.sqrt();
        self.binomial_at_most(k)
            .max(student_at_least(t, self.freedom))
    }

    /// The smallest count whose tail has a probability of at most `alpha`.
    pub fn limit(self, alpha: f64) -> u64 {
        let mut high = (self.mean.ceil() as u64).max(1);
        while self.at_least(high) > alpha {
            high *= 2;
        }
        let mut low = 0;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.at_least(middle) > alpha {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispersion::Pool;
    use super::*;
    use proptest::prelude::*;

    fn count(mean: f64, variance: f64) -> Predicted {
        Predicted {
            mean,
            variance,
            freedom: 10.0,
        }
    }

    #[test]
    fn a_variance_that_equals_the_mean_is_poisson() {
        // 1 - e^-3 (1 + 3 + 9/2)
        let expected = 1.0 - (-3.0f64).exp() * 8.5;
        let found = count(3.0, 3.0).binomial_at_least(3);
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn one_success_is_geometric() {
        // r = 1 and p = 0.9: mean 9, variance 90.
        for k in [1u64, 5, 20, 100] {
            let expected = 0.9f64.powi(k as i32);
            let found = count(9.0, 90.0).binomial_at_least(k);
            assert!((found / expected - 1.0).abs() < 1e-9, "{k}");
        }
    }

    #[test]
    fn the_baseline_gives_the_mean_and_the_doubt() {
        let base = Series::new([(10, 1000.0), (10, 1000.0)]);
        let unknown = Pool::default().dispersion(&base, 1.0);
        let more = Predicted::new(&base, unknown, 1000.0);
        assert!((more.mean - 10.25).abs() < 1e-12);
        assert!(more.variance > more.mean);
        let longer = Predicted::new(&base, unknown, 4000.0);
        assert!(longer.variance > 4.0 * more.variance);
    }

    proptest! {
        #[test]
        fn both_tails_make_the_whole(mean in 0.01f64..500.0, phi in 1.0f64..50.0, k in 0u64..1000) {
            let count = count(mean, mean * phi);
            let sum = count.binomial_at_least(k + 1) + count.binomial_at_most(k);
            prop_assert!((sum - 1.0).abs() < 1e-6, "{}", sum);
        }

        #[test]
        fn the_limit_is_the_first_unlikely_count(
            mean in 0.01f64..500.0, phi in 1.0f64..50.0, alpha in 1e-7f64..0.1,
        ) {
            let count = count(mean, mean * phi);
            let limit = count.limit(alpha);
            prop_assert!(count.at_least(limit) <= alpha);
            prop_assert!(count.at_least(limit - 1) > alpha);
        }

        /// With a mean far below the size of a cluster larger clusters come more rarely, so that the
        /// same count becomes less likely; from a mean of 1 on that is not so here.
        #[test]
        fn more_clusters_make_a_large_count_likelier(mean in 1.0f64..50.0, phi in 1.0f64..20.0) {
            let k = (mean + 6.0 * (mean * phi).sqrt()) as u64 + 1;
            let less = count(mean, mean * phi).at_least(k);
            let more = count(mean, mean * phi * 1.5).at_least(k);
            prop_assert!(more >= less);
        }
    }
}
