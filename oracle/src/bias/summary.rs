//! The bias of a walker: of each method, and in a few numbers.

use super::interval::{Estimate, instant, naming};
use super::pairs::{OTHERS, Pairs};
use super::truth::TrueProfile;
use crate::probability::holm;

/// The probability with which an honest walker may be called biased.
const ALPHA: f64 = 0.001;

/// Intervals fail with this probability at most.
const OF_INTERVALS: f64 = 0.05;

/// The bias of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodBias {
    /// The method.
    pub name: String,
    /// The method's share of all instants of the run, from 0 to 1: the same for all walkers of a run.
    pub true_share: f64,
    /// Instants of this walker at which the method ran.
    pub truth: u64,
    /// Instants at which the walker named the method.
    pub claimed: u64,
    /// At the walker's own instants, the method's share of the answers less its share of the truth.
    pub total: Estimate,
    /// The part that is due to the instants at which the walker answers.
    pub instant: Estimate,
    /// The part that is due to wrong names.
    pub naming: Estimate,
    /// Whether the bias is more than chance. An honest walker has such a method with a probability of 0.1 % at most.
    pub is_certain: bool,
    /// Whether the part that is due to wrong names alone is more than chance: the walker names the method falsely. Else the
    /// walker only answers more or less often while the method runs.
    pub is_misnamed: bool,
}

/// The bias of a walker.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Instants with a truth.
    pub instants: u64,
    /// Of these, the instants at which the walker answered, and its answer could be judged.
    pub answered: u64,
    /// Of the instants, those at which the walker said that it does not know the method.
    pub unsure: u64,
    /// Of the instants, those at which nobody can say what the walker named.
    pub unjudged: u64,
    /// Of these, the instants at which the walker named another method than the one that ran.
    pub renamed: u64,
    /// Of the answered instants, those in windows, where the truth and the walker count as agreeing.
    pub windows: u64,
    /// The methods, those that ran most first.
    pub methods: Vec<MethodBias>,
    /// The part of the two profiles that is common to both, from 0 to 1; `None` without answers. One minus the
    /// overlap is their total variation.
    pub overlap: Option<f64>,
    /// The place of the truly hottest method among the walker's, from 1, behind those that it named more often beyond
    /// chance; `None` if the walker never names it.
    pub hottest_rank: Option<usize>,
}

impl MethodBias {
    /// The bias as a share of the method's true count: 0.07 if the walker counts the method 7 % too often, given how
    /// often the method ran among `instants`. `None` for a method that never ran.
    pub fn relative(&self, instants: u64) -> Option<Estimate> {
        let part = |share: f64| share * instants as f64 / self.truth as f64;
        let Estimate { value, low, high } = self.total;
        (self.truth > 0).then(|| Estimate {
            value: part(value),
            // A count is not below 0.
            low: part(low).max(-1.0),
            high: part(high),
        })
    }
}

/// How many standard deviations a bias needs to be seen. A test of one method with an error of 0.1 % needs 3.3; the
/// correction for many methods asks for a little more.
const DEVIATIONS: f64 = 4.0;

impl Summary {
    /// The bias that `pairs` show, of a walker that alone was asked.
    pub fn alone(pairs: &Pairs) -> Summary {
        Summary::new(pairs, &TrueProfile::of([pairs]))
    }

    /// The bias that `pairs` show, in a run with this true profile.
    pub fn new(pairs: &Pairs, truth: &TrueProfile) -> Summary {
        let mut of_methods = pairs.of_methods();
        for name in truth.methods() {
            of_methods.entry(name).or_default();
        }
        let instants = pairs.instants();
        let answered = of_methods.values().map(|of| of.answered).sum();
        let mut p = vec![];
        let mut methods: Vec<MethodBias> = vec![];
        for (&name, &of) in &of_methods {
            let (instant, p_instant) = instant(of, instants, answered, 0.5 * OF_INTERVALS);
            let (naming, p_naming) = naming(of, answered, 0.5 * OF_INTERVALS);
            p.extend([p_instant, p_naming]);
            methods.push(MethodBias {
                name: name.to_owned(),
                true_share: truth.share(name),
                truth: of.truth,
                claimed: of.claimed,
                total: instant.plus(naming),
                instant,
                naming,
                is_certain: false,
                is_misnamed: false,
            });
        }
        let certain = holm::significant(&p, ALPHA);
        for (method, certain) in methods.iter_mut().zip(certain.chunks(2)) {
            method.is_certain = certain.contains(&true);
            method.is_misnamed = certain[1];
        }
        let share = |n: u64| n as f64 / answered.max(1) as f64;
        let common = |of: &MethodBias| of.true_share.min(share(of.claimed));
        let overlap = (answered > 0).then(|| methods.iter().map(common).sum());
        let order = |a: &MethodBias, b: &MethodBias| {
            let by_truth = b.true_share.total_cmp(&a.true_share);
            by_truth.then(b.claimed.cmp(&a.claimed))
        };
        methods.sort_by(order);
        let named = methods.iter().filter(|of| of.name != OTHERS);
        let hottest = named.clone().next().map_or(0, |of| of.claimed);
        let above = named.filter(|of| is_above(of.claimed, hottest)).count();
        Summary {
            instants,
            answered,
            unsure: pairs.unsure(),
            unjudged: pairs.unjudged(),
            renamed: of_methods.values().map(|of| of.lost).sum(),
            windows: pairs.windows(),
            overlap,
            hottest_rank: (hottest > 0).then_some(above + 1),
            methods,
        }
    }

    /// The method that truly ran most.
    pub fn hottest(&self) -> Option<&MethodBias> {
        let mut methods = self.methods.iter();
        methods.find(|of| of.name != OTHERS && of.true_share > 0.0)
    }

    /// The smallest bias of the hottest method that these answers show, as a part of its count: 0.07 if the walker could
    /// count the method 7 % too often, or too rarely, and chance would still explain it. `None` without answers.
    pub fn visible(&self) -> Option<f64> {
        let share = self.hottest()?.true_share;
        let deviation = ((1.0 - share) / (share * self.answered as f64)).sqrt();
        (self.answered > 0).then_some(DEVIATIONS * deviation)
    }

    /// Whether the walker is biased, beyond chance.
    pub fn is_biased(&self) -> bool {
        self.methods.iter().any(|of| of.is_certain)
    }

    /// The two profiles differ by this much, from 0 to 1.
    pub fn total_variation(&self) -> Option<f64> {
        self.overlap.map(|overlap| 1.0 - overlap)
    }
}

/// Whether a method was named more often than another one beyond chance: of two methods that are equally hot either may
/// come first.
fn is_above(claimed: u64, other: u64) -> bool {
    // The standard deviation of a difference of two counts.
    let deviation = (claimed as f64 + other as f64).sqrt();
    claimed as f64 - other as f64 > DEVIATIONS * deviation
}

#[cfg(test)]
mod tests {
    use super::super::claim::Claim;
    use super::*;
    use crate::random::{GOLDEN, mix};
    use proptest::prelude::*;

    /// A walker that is asked at random instants of a program.
    #[derive(Copy, Clone)]
    enum Walker {
        /// It fails at one instant of ten, whatever runs.
        Honest,
        /// It also fails at one of five instants at which method 1 runs.
        DropsOne,
        /// It names the caller at one of twenty instants at which method 1 runs.
        NamesCaller,
        /// It names a random method of the program at one of twenty instants, in proportion to the methods' shares.
        NamesAnyone,
    }

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            let number = mix(self.0);
            self.0 = self.0.wrapping_add(GOLDEN);
            (number >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Method n has a share of some 1 / (n + 1).
        fn method(&mut self) -> usize {
            const METHODS: usize = 40;
            let whole: f64 = (1..=METHODS).map(|n| 1.0 / n as f64).sum();
            let mut left = self.next() * whole;
            (1..=METHODS)
                .find(|&n| {
                    left -= 1.0 / n as f64;
                    left <= 0.0
                })
                .unwrap_or(METHODS)
                - 1
        }
    }

    fn named(claim: Claim<usize>) -> usize {
        match claim {
            Claim::Named(method) => method,
            _ => 0,
        }
    }

    fn profile(walker: Walker, seed: u64, instants: usize) -> Summary {
        let (mut random, mut pairs) = (Random(seed), Pairs::default());
        for _ in 0..instants {
            let truth = random.method();
            let chance = random.next();
            let claim = match walker {
                _ if random.next() < 0.1 => Claim::Silent,
                Walker::DropsOne if truth == 1 && chance < 0.2 => Claim::Silent,
                Walker::NamesCaller if truth == 1 && chance < 0.05 => Claim::Named(17),
                Walker::NamesAnyone if chance < 0.05 => Claim::Named(random.method()),
                _ => Claim::Same,
            };
            let names: [String; 2] = [truth, named(claim)].map(|method| format!("m{method}"));
            pairs.add(&names[0], claim.map(|_| names[1].as_str()), 1);
        }
        Summary::alone(&pairs)
    }

    const RUNS: u64 = 20;
    const INSTANTS: usize = 20_000;

    fn biased(walker: Walker) -> usize {
        let runs = (0..RUNS).map(|seed| profile(walker, seed, INSTANTS));
        runs.filter(Summary::is_biased).count()
    }

    #[test]
    fn a_walker_that_drops_samples_of_a_method_is_called_biased_in_20_of_20_runs() {
        assert_eq!(biased(Walker::DropsOne), 20);
        let of = profile(Walker::DropsOne, 7, INSTANTS);
        let one = of
            .methods
            .iter()
            .find(|of| of.name == "m1")
            .expect("it ran");
        assert!(one.instant.high < 0.0 && one.is_certain, "{one:?}");
        assert_eq!(one.naming.value, 0.0);
    }

    #[test]
    fn a_walker_that_names_a_caller_is_called_biased_in_20_of_20_runs() {
        assert_eq!(biased(Walker::NamesCaller), 20);
        let of = profile(Walker::NamesCaller, 7, INSTANTS);
        let find = |name: &str| {
            of.methods
                .iter()
                .find(|of| of.name == name)
                .expect("it ran")
        };
        let (one, caller) = (find("m1"), find("m17"));
        assert!(one.naming.high < 0.0 && one.is_certain, "{one:?}");
        assert!(caller.naming.low > 0.0 && caller.is_certain, "{caller:?}");
    }

    #[test]
    fn an_honest_walker_is_not_called_biased_in_20_of_20_runs() {
        assert_eq!(biased(Walker::Honest), 0);
        // Names that are wrong at random, and as often as the methods run, leave the profile as it is.
        assert_eq!(biased(Walker::NamesAnyone), 0);
    }

    /// The intervals hold the true bias: 0.2 of method 1 dropped, with shares that are known.
    #[test]
    fn intervals_hold_the_true_bias_in_nearly_all_runs() {
        let whole: f64 = (1..=40).map(|n| 1.0 / f64::from(n)).sum();
        let share = 0.5 / whole;
        // The interval is given the share that was observed: so is this bias.
        let inside = (0..200).filter(|&seed| {
            let of = profile(Walker::DropsOne, 1000 + seed, 5000);
            let one = of
                .methods
                .iter()
                .find(|of| of.name == "m1")
                .expect("it ran");
            let seen = one.truth as f64 / of.instants as f64;
            assert!((seen - share).abs() < 0.05);
            let bias = 0.8 * seen / (0.8 * seen + 1.0 - seen) - seen;
            (one.instant.low..=one.instant.high).contains(&bias)
        });
        // With a probability of at least 97.5 % each, 185 of 200 are all but certain.
        let inside = inside.count();
        assert!(inside >= 185, "{inside} of 200");
    }

    #[test]
    fn summaries_of_known_profiles() {
        let mut pairs = Pairs::default();
        pairs.add("a", Claim::Same, 50);
        pairs.add("a", Claim::Named("b"), 10);
        pairs.add("b", Claim::Same, 40);
        let of = Summary::alone(&pairs);
        // 60 : 40 became 50 : 50. Both are first by the walker.
        assert!((of.overlap.expect("it answered") - 0.9).abs() < 1e-12);
        assert!((of.total_variation().expect("it answered") - 0.1).abs() < 1e-12);
        assert_eq!((of.hottest_rank, of.renamed), (Some(1), 10));
        // 50 of 60.
        let relative = of.methods[0].relative(of.instants).expect("it ran");
        assert!((relative.value + 1.0 / 6.0).abs() < 1e-12, "{relative:?}");
        assert!(relative.low < relative.value && relative.value < relative.high);
        assert!((of.methods[0].total.value + 0.1).abs() < 1e-12, "{of:?}");
        let none = Summary::alone(&Pairs::default());
        assert_eq!(
            (none.overlap, none.hottest_rank, none.is_biased()),
            (None, None, false)
        );
    }

    proptest! {
        #[test]
        fn biases_add_up(
            counts in prop::collection::vec((0u8..6, prop::option::of(0u8..6), 1u64..50), 1..30),
        ) {
            let mut pairs = Pairs::default();
            for (truth, claimed, count) in counts {
                let name = |method: u8| format!("m{method}");
                let claimed = claimed.map(name);
                let claim = claimed.as_deref().map_or(Claim::Silent, Claim::Named);
                pairs.add(&name(truth), claim, count);
            }
            let of = Summary::alone(&pairs);
            let sum = |part: fn(&MethodBias) -> f64| of.methods.iter().map(part).sum::<f64>();
            prop_assert_eq!(of.methods.iter().map(|of| of.truth).sum::<u64>(), of.instants);
            prop_assert_eq!(of.methods.iter().map(|of| of.claimed).sum::<u64>(), of.answered);
            prop_assert!(sum(|of| of.naming.value).abs() < 1e-9);
            if of.answered > 0 {
                prop_assert!(sum(|of| of.instant.value).abs() < 1e-9);
                let shares = |of_method: &MethodBias| {
                    of_method.claimed as f64 / of.answered as f64 - of_method.truth as f64 / of.instants as f64
                };
                let half = of.methods.iter().map(|of| shares(of).abs()).sum::<f64>() / 2.0;
                prop_assert!((of.total_variation().expect("answered") - half).abs() < 1e-9);
                for method in &of.methods {
                    prop_assert!((method.total.value - shares(method)).abs() < 1e-9, "{:?}", method);
                    for part in [method.total, method.instant, method.naming] {
                        prop_assert!(part.low <= part.value + 1e-9 && part.value <= part.high + 1e-9, "{:?}", method);
                    }
                }
            }
        }
    }
}
