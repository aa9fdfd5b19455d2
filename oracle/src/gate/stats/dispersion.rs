//! How much more than by chance counts differ between equal runs.

/// The counts of one cell in the runs of a baseline: events and trials of each run. Trials may be weighted, so
/// they need not be whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::gate) struct Series {
    runs: Vec<(u64, f64)>,
}

/// What the counts of one cell show of its dispersion.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(in crate::gate) struct Shown {
    /// The mean count of a run.
    mean: f64,
    /// The variance by the mean; 1 where only chance is at work.
    phi: f64,
    /// How many runs there are beyond the first.
    freedom: f64,
}

/// What the cells of a layer show together.
#[derive(Clone, Debug, Default)]
pub(in crate::gate) struct Pool(Vec<Shown>);

/// So many runs' worth has the pool beside the runs of the cell itself.
const POOL_FREEDOM: f64 = 6.0;

/// The share of cells that the dispersion of the pool covers.
const MOST: f64 = 0.9;

/// The dispersion where no cell has been seen in two runs.
const UNKNOWN: f64 = 4.0;

impl Series {
    /// The counts: events and trials. Runs without trials say nothing.
    pub fn new(runs: impl IntoIterator<Item = (u64, f64)>) -> Series {
        Series {
            runs: runs.into_iter().filter(|run| run.1 > 0.0).collect(),
        }
    }

    /// All events.
    pub fn events(&self) -> u64 {
        self.runs.iter().map(|run| run.0).sum()
    }

    /// All trials.
    pub fn trials(&self) -> f64 {
        self.runs.iter().map(|run| run.1).sum()
    }

    /// The largest count of a run.
    pub fn largest(&self) -> u64 {
        self.runs.iter().map(|run| run.0).max().unwrap_or(0)
    }

    /// The largest share of events in the trials of a run.
    pub fn largest_share(&self) -> f64 {
        let shares = self.runs.iter().map(|run| run.0 as f64 / run.1);
        shares.fold(0.0, f64::max)
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The trials of an average run.
    pub fn usual_trials(&self) -> f64 {
        self.trials() / self.len().max(1) as f64
    }

    /// The dispersion by the method of moments: Pearson's statistic by its degrees of freedom
    /// (McCullagh and Nelder, Generalized Linear Models, 4.5). None without events or with one run.
    pub fn shown(&self) -> Option<Shown> {
        let (events, trials) = (self.events() as f64, self.trials());
        if events == 0.0 || self.len() < 2 {
            return None;
        }
        let pearson = self.runs.iter().map(|&(k, n)| {
            let expected = events * n / trials;
            (k as f64 - expected).powi(2) / expected
        });
        let freedom = self.len() as f64 - 1.0;
        Some(Shown {
            mean: events / self.len() as f64,
            phi: pearson.sum::<f64>() / freedom,
            freedom,
        })
    }
}

impl Shown {
    /// The variance by the mean; 1 where only chance is at work.
    pub fn phi(&self) -> f64 {
        self.phi
    }
}

impl Pool {
    /// The pool of these cells.
    pub fn new(cells: impl IntoIterator<Item = Shown>) -> Pool {
        Pool(cells.into_iter().collect())
    }

    /// The dispersion that most cells with about this mean do not exceed: some kinds come in clusters
    /// and some do not, and of a rare kind nobody knows. Cells weigh the less, the further their mean
    /// is away: the dispersion of frequent events comes from differences between runs and grows with
    /// the mean, that of rare events comes from clusters.
    fn around(&self, mean: f64) -> f64 {
        let weight = |cell: &Shown| cell.freedom * (-(cell.mean / mean).ln().abs()).exp();
        let mut cells: Vec<(f64, f64)> = self.0.iter().map(|c| (c.phi, weight(c))).collect();
        cells.sort_by(|a, b| b.0.total_cmp(&a.0));
        let beyond = (1.0 - MOST) * cells.iter().map(|cell| cell.1).sum::<f64>();
        let mut seen = 0.0;
        let quantile = cells.iter().find(|cell| {
            seen += cell.1;
            seen >= beyond
        });
        quantile.map_or(UNKNOWN, |cell| cell.0.max(1.0))
    }

    /// The dispersion of a cell: what its own runs show, shrunk towards that of the pool (as in Smyth,
    /// Linear models and empirical Bayes methods, Statistical Applications in Genetics and Molecular
    /// Biology 3, 2004), and its degrees of freedom. Never less than that of chance. `of_kin`: what is known of cells that
    /// disperse alike, 1 if nothing is; it takes the pool's place if it is larger.
    pub fn dispersion(&self, of: &Series, of_kin: f64) -> (f64, f64) {
        let mean = (of.events() as f64 + 0.5) / of.len().max(1) as f64;
        let pooled = self.around(mean).max(of_kin);
        let Some(own) = of.shown() else {
            return (pooled, POOL_FREEDOM);
        };
        let freedom = own.freedom + POOL_FREEDOM;
        let shrunk = (own.phi * own.freedom + pooled * POOL_FREEDOM) / freedom;
        (shrunk.max(1.0), freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(counts: &[u64]) -> Series {
        Series::new(counts.iter().map(|&k| (k, 1000.0)))
    }

    #[test]
    fn equal_counts_show_less_than_chance() {
        let shown = series(&[7, 7, 7]).shown().unwrap();
        assert_eq!((shown.mean, shown.phi, shown.freedom), (7.0, 0.0, 2.0));
        assert_eq!(
            Pool::new([shown]).dispersion(&series(&[7, 7, 7]), 1.0),
            (1.0, 8.0)
        );
    }

    #[test]
    fn clusters_show() {
        // Mean 20, sum of squares 2 * 400.
        let shown = series(&[0, 40]).shown().unwrap();
        assert_eq!(shown.phi, 40.0);
        assert_eq!(series(&[0, 0]).shown(), None);
        assert_eq!(series(&[5]).shown(), None);
    }

    #[test]
    fn without_repeated_runs_the_dispersion_is_not_known() {
        assert_eq!(Pool::default().dispersion(&series(&[5]), 1.0).0, UNKNOWN);
    }

    #[test]
    fn what_is_known_of_kin_takes_the_place_of_a_pool_that_knows_less() {
        let pool = Pool::new([series(&[7, 7, 9]).shown().unwrap()]);
        let of_kin = |phi| pool.dispersion(&series(&[1, 0]), phi).0;
        assert!(of_kin(25.0) > 20.0);
        assert_eq!(of_kin(0.5), of_kin(1.0));
    }

    proptest! {
        #[test]
        fn few_runs_say_little(a in 0u64..100, b in 0u64..100, pooled in 1.0f64..20.0) {
            prop_assume!(a + b > 0);
            let cell = series(&[a, b]);
            let own = cell.shown().unwrap().phi;
            let pool = Pool(vec![Shown { mean: 5.0, phi: pooled, freedom: 50.0 }]);
            let (dispersion, _) = pool.dispersion(&cell, 1.0);
            let (low, high) = (own.min(pooled), own.max(pooled));
            prop_assert!(dispersion >= low.max(1.0) - 1e-9 && dispersion <= high.max(1.0) + 1e-9);
            prop_assert!((dispersion - pooled).abs() <= (own.max(1.0) - pooled).abs().max((own - pooled).abs()) / 7.0 + 1e-9);
        }
    }
}
