//! Kinds that no earlier run has shown. Honest runs have some, because places are numerous and rare.
//! So the baseline tells how many new kinds a run brings, and how large they are: each of its runs is
//! taken for the newest, and the kinds that no other run has are counted.

/// How many new kinds honest runs bring.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(in crate::gate) struct Novelty {
    /// New kinds of a run.
    rate: f64,
    /// The mean count of a new kind.
    size: f64,
    /// The largest count of a new kind.
    largest: u64,
    /// From which count on kinds are looked at.
    least: u64,
}

/// The least mean count, from [`Novelty::least`] on, that new kinds are taken to have: where few were
/// seen, they may still be clusters.
const LEAST_SIZE: f64 = 2.0;

impl Novelty {
    /// From the counts of kinds that one run of `runs` has and no other run has. Kinds with a count
    /// below `least`, which is at least 1, are not looked at.
    pub fn new(sizes: &[u64], runs: usize, least: u64) -> Novelty {
        let looked_at = sizes.iter().copied().filter(|&size| size >= least);
        let (n, total) = looked_at
            .clone()
            .fold((0, 0), |(n, sum), size| (n + 1, sum + size - least + 1));
        Novelty {
            // One more than was seen: that none was seen does not mean that there is none.
            rate: f64::from(n + 1) / runs.max(1) as f64,
            size: (total as f64 / f64::from(n.max(1))).max(LEAST_SIZE),
            largest: looked_at.max().unwrap_or(0),
            least,
        }
    }

    /// The mean number of new kinds with a count of at least `k` in an honest run: counts are
    /// geometric.
    pub fn at_least(self, k: u64) -> f64 {
        let tail = (1.0 - 1.0 / self.size).powf(k as f64 - self.least as f64);
        self.rate * tail
    }

    /// The largest count of a new kind in the baseline.
    pub fn largest(self) -> u64 {
        self.largest
    }

    /// The smallest count of a new kind that is an alarm, if honest runs are to have one with
    /// probability `alpha` at most. Always more than was seen in the baseline.
    pub fn limit(self, alpha: f64) -> u64 {
        let more = (self.rate / alpha).ln() / -(1.0 - 1.0 / self.size).ln();
        (self.least + more.ceil().max(0.0) as u64).max(self.largest + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_new_kinds_a_handful_is_an_alarm() {
        // 0.1 new kinds of a run, of mean size 2: 0.1 * 2^-6 < 0.0025.
        assert_eq!(Novelty::new(&[], 10, 1).limit(0.0025), 7);
    }

    #[test]
    fn large_new_kinds_raise_the_limit() {
        let calm = Novelty::new(&[1, 1, 2], 10, 1).limit(0.0025);
        let wild = Novelty::new(&[1, 40, 2], 10, 1).limit(0.0025);
        assert!(wild > 40 && calm < 15, "{calm} {wild}");
    }

    proptest! {
        #[test]
        fn at_the_limit_new_kinds_are_rare_enough(
            sizes in prop::collection::vec(1u64..50, 0..40), runs in 1usize..20,
            least in 1u64..4, alpha in 1e-4f64..0.05,
        ) {
            let novelty = Novelty::new(&sizes, runs, least);
            let limit = novelty.limit(alpha);
            prop_assert!(novelty.at_least(limit) <= alpha * (1.0 + 1e-9));
            prop_assert!(sizes.iter().all(|&size| size < limit));
        }
    }
}
