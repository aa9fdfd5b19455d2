//! Causes whose false stacks differ so much from turn to turn that they hide all others.
//!
//! Some mistakes come in bursts: a search that is compiled in one way in this turn and in another in the next gives no false stack,
//! or hundreds. The bound on a layer's false stacks is no lower than the bursts, however rare all others are. So a check whose
//! time is over leaves such causes out, with a bound of their own, and says so.

use super::bound::{Both, Noisy, Paired, at_most};

/// A bound leaves out so many causes at most.
const MOST: usize = 2;

/// The base must have shown a cause in so many pairs: what the new build alone has is no noise.
const SHOWN: usize = 3;

/// The false stacks of a cause, by the number of the pair of its layer. Other pairs have none.
#[derive(Clone, Debug, Default)]
pub(super) struct OfCause(pub Vec<(usize, Both)>);

impl OfCause {
    /// How far the turns of the pairs are apart, in stacks.
    fn noise(&self) -> f64 {
        let apart = self.0.iter().map(|(_, pair)| pair.base.0 - pair.new.0);
        apart.map(f64::abs).sum()
    }

    fn is_known(&self) -> bool {
        let shown = self.0.iter().filter(|(_, pair)| pair.base.0 > 0.0);
        shown.count() >= SHOWN
    }

    /// Takes the stacks of this cause from `pairs`, and returns the pairs with these alone.
    fn take_from(&self, pairs: &mut [Paired]) -> Vec<Paired> {
        let none = |pair: &Paired| Paired {
            program: pair.program,
            both: Both {
                base: (0.0, pair.both.base.1),
                new: (0.0, pair.both.new.1),
            },
        };
        let mut alone: Vec<Paired> = pairs.iter().map(none).collect();
        for (at, of) in &self.0 {
            let (rest, alone) = (&mut pairs[*at].both, &mut alone[*at].both);
            rest.base.0 = (rest.base.0 - of.base.0).max(0.0);
            rest.new.0 = (rest.new.0 - of.new.0).max(0.0);
            (alone.base.0, alone.new.0) = (of.base.0, of.new.0);
        }
        alone
    }
}

/// The bound on the false stacks of a layer without its noisiest causes, if it is not above `limit`. `pairs` have all of
/// its false stacks.
pub(super) fn without_noise<'c>(
    pairs: &[Paired],
    causes: impl Iterator<Item = (&'c str, &'c OfCause)>,
    limit: f64,
) -> Option<(f64, Vec<Noisy>)> {
    let mut known: Vec<_> = causes.filter(|(_, of)| of.is_known()).collect();
    known.sort_by(|(_, a), (_, b)| b.noise().total_cmp(&a.noise()));
    let mut rest = pairs.to_vec();
    let mut noisy = vec![];
    for (cause, of) in known.into_iter().take(MOST) {
        let alone = of.take_from(&mut rest);
        noisy.push(Noisy {
            cause: cause.into(),
            at_most: at_most(&alone),
        });
        let bound = at_most(&rest).filter(|&bound| bound <= limit);
        if let Some(bound) = bound {
            return Some((bound, noisy));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;

    const CHECKS: f64 = 1000.0;

    /// So many pairs, with the false stacks of the base and of the new build.
    fn pairs(n: usize, events: impl Fn(usize) -> (f64, f64)) -> Vec<Paired> {
        let pair = |at: usize| {
            let (base, new) = events(at);
            Paired {
                program: 0,
                both: Both {
                    base: (base, CHECKS),
                    new: (new, CHECKS),
                },
            }
        };
        (0..n).map(pair).collect()
    }

    fn sum(one: &[Paired], other: &[Paired]) -> Vec<Paired> {
        let mut sum = one.to_vec();
        for (sum, more) in sum.iter_mut().zip(other) {
            sum.both.base.0 += more.both.base.0;
            sum.both.new.0 += more.both.new.0;
        }
        sum
    }

    fn cause(pairs: &[Paired]) -> OfCause {
        let both = pairs.iter().map(|pair| pair.both);
        OfCause(both.enumerate().collect())
    }

    #[test]
    fn bursts_no_longer_hide_that_all_else_is_rare() {
        const LIMIT: f64 = 0.005;
        let burst = |at: usize, side: u64| (mix((at as u64) << 8 | side) % 5 * 60) as f64;
        let bursts = pairs(60, |at| (burst(at, 1), burst(at, 2)));
        let all = sum(&bursts, &pairs(60, |_| (1.0, 1.0)));
        assert!(at_most(&all).is_none_or(|bound| bound > LIMIT));
        let of = cause(&bursts);
        let quiet = without_noise(&all, [("bursts", &of)].into_iter(), LIMIT);
        let (bound, noisy) = quiet.expect("all else is rare");
        assert!(bound <= LIMIT, "{bound}");
        assert_eq!(noisy[0].cause, "bursts");
        assert!(noisy[0].at_most.is_none_or(|bound| bound > LIMIT));
    }

    #[test]
    fn what_the_new_build_alone_has_is_no_noise() {
        let new = pairs(60, |at| (0.0, if at % 2 == 0 { 300.0 } else { 0.0 }));
        let of = cause(&new);
        assert_eq!(without_noise(&new, [("new", &of)].into_iter(), 0.005), None);
    }
}
