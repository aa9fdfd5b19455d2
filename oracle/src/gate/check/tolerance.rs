//! By how much a build may differ from its base without being worse.

use super::strata::Counts;
use crate::gate::baseline::{Family, What};

/// How much larger than the base's a rate may be.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Tolerance {
    pub ratio: f64,
    pub share: f64,
    of: Of,
}

/// What may be `ratio` times as large as in the base, and `share` more.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Of {
    /// The rate.
    Rate,
    /// The rate, and what is left to 1 may shrink by no more than that: a half cannot become larger by half again and again.
    Both,
    /// What is left to 1 may shrink by no more than that.
    Rest,
}

/// Two compilers' builds of one source, or two updates of one release, meet a known mistake of the walker
/// at other instructions, so that its rate differs a little.
const RATIO: f64 = 1.5;

/// A sampler that says less often that a sample is worth less may have become better. One that says so of less than half of those of
/// which it did has lost the flag, as far as the numbers tell.
const UNSAID: f64 = 2.0;

impl Tolerance {
    /// The tolerance for what a cell counts; `None` if it is not tested.
    pub fn of(what: &What) -> Option<Tolerance> {
        let share = match what.family() {
            Family::Truth => match what {
                // Which inlined frames are missing depends on what the compilers inlined in a turn.
                What::Imprecise => 0.005,
                _ => 0.0,
            },
            // As for a stored baseline: codes such as -2 depend on what else the VM does.
            Family::Answers => 0.0075,
            Family::Refusals => 0.0005,
            // How long a thread runs from its sample to the next safepoint depends on the machine.
            Family::Statements => {
                what.trials()?;
                0.02
            }
            Family::Judging | Family::Strength => {
                what.trials()?;
                0.03
            }
        };
        let (ratio, of) = match what {
            What::Unsaid(_) => (UNSAID, Of::Rest),
            _ if what.family() == Family::Statements => (RATIO, Of::Both),
            _ => (RATIO, Of::Rate),
        };
        Some(Tolerance { ratio, share, of })
    }

    /// Whether the first side is worse than the second; `None` if the pair says nothing.
    ///
    /// For sides that can be exchanged, "worse" has a probability of at most 1/2 among the pairs that say
    /// something: if the one side is worse, the other is not.
    pub fn is_worse(self, new: Counts, base: Counts) -> Option<bool> {
        if new.1 == 0.0 || base.1 == 0.0 {
            return None;
        }
        // Without a share to be exceeded, two empty turns say nothing. With a share they speak for the build.
        if new.0 == 0.0 && base.0 == 0.0 && self.share == 0.0 {
            return None;
        }
        let rate = |(events, trials): Counts| events / trials;
        Some(rate(new) > self.most(rate(base)))
    }

    /// The highest rate that is not worse than a rate of the base.
    pub fn most(self, base: f64) -> f64 {
        let most = self.ratio * base + self.share;
        let of_rest = 1.0 - (1.0 - base - self.share) / self.ratio;
        match self.of {
            Of::Rate => most,
            Of::Both => most.min(of_rest),
            Of::Rest => of_rest,
        }
    }
}

/// If the one turn has at least so many checks of a layer ...
const ENOUGH: u64 = 100;

/// ... and the other less than this share of them, then the other hardly measured the layer.
const HARDLY: f64 = 0.05;

/// Whether a turn of the new build has hardly any of the checks that the base has; `None` if neither has many.
pub(super) fn is_missing(new: u64, base: u64) -> Option<bool> {
    (new.max(base) >= ENOUGH).then_some((new as f64) < base as f64 * HARDLY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Statement;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_one_side_can_be_worse(
            new in (0u64..50, 1u64..1000), base in (0u64..50, 1u64..1000),
            what in prop::sample::select(vec![What::Wrong(String::new()), What::Error(-5), What::Refused(-5), What::Window, What::Stated(Statement::Biased), What::Unsaid(Statement::Biased)]),
        ) {
            let tolerance = Tolerance::of(&what).expect("it is tested");
            let counts = |(events, trials): (u64, u64)| (events as f64, trials as f64);
            let (new, base) = (counts(new), counts(base));
            let (one, other) = (tolerance.is_worse(new, base), tolerance.is_worse(base, new));
            prop_assert_eq!(one.is_none(), other.is_none());
            prop_assert!(one != Some(true) || other != Some(true));
        }

        #[test]
        fn only_one_side_can_be_missing(new in 0u64..10_000, base in 0u64..10_000) {
            let (one, other) = (is_missing(new, base), is_missing(base, new));
            prop_assert_eq!(one.is_none(), other.is_none());
            prop_assert!(one != Some(true) || other != Some(true));
        }
    }

    /// On a busy machine two thirds of an honest JVM's samples are biased.
    #[test]
    fn a_statement_about_all_samples_is_worse_than_one_about_most() {
        let tolerance = Tolerance::of(&What::Stated(Statement::Biased)).expect("it is tested");
        let of = |new: f64, base: f64| tolerance.is_worse((new, 100.0), (base, 100.0));
        assert_eq!(of(100.0, 67.0), Some(true));
        assert_eq!(of(100.0, 33.0), Some(true));
        assert_eq!(of(75.0, 67.0), Some(false));
        assert_eq!(of(100.0, 99.0), Some(false));
    }

    #[test]
    fn a_statement_that_vanishes_is_worse_and_one_that_becomes_rarer_is_not() {
        let tolerance = Tolerance::of(&What::Unsaid(Statement::Biased)).expect("it is tested");
        let of =
            |new: f64, base: f64| tolerance.is_worse((100.0 - new, 100.0), (100.0 - base, 100.0));
        assert_eq!(of(0.0, 34.0), Some(true));
        assert_eq!(of(20.0, 34.0), Some(false));
        assert_eq!(of(34.0, 0.0), Some(false));
        assert_eq!(of(0.0, 1.0), Some(false));
        assert_eq!(of(0.0, 0.0), Some(false));
    }

    #[test]
    fn trials_are_not_tested() {
        assert_eq!(Tolerance::of(&What::Checks), None);
        assert_eq!(Tolerance::of(&What::Milliseconds), None);
        assert!(Tolerance::of(&What::Dropped).is_some());
    }
}
