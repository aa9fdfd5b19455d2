//! How much worse the new build may still be, after the pairs so far.

use super::percent::percent;
use super::sign::SignTest;
use super::strata::Counts;
use crate::Layer;
use crate::bound;
use crate::random::mix;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// What a stack is counted as, whatever its cause or code.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Class {
    /// A stack that is wrong or cut short.
    False,
    /// An error code instead of a stack.
    NoAnswer,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 2] = [Class::False, Class::NoAnswer];
}

/// Events and trials of the base and of the new build.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Both {
    pub base: Counts,
    pub new: Counts,
}

/// A pair of turns.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Paired {
    /// The number of the program that both turns ran.
    pub program: usize,
    pub both: Both,
}

impl Paired {
    fn has_checks(&self) -> bool {
        self.both.base.1 > 0.0 && self.both.new.1 > 0.0
    }
}

/// The same as they were counted, whatever the instants.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub base: (u64, u64),
    pub new: (u64, u64),
}

/// How much more frequent a class of answers may be in the new build.
#[derive(Clone, Debug, PartialEq)]
pub struct NotWorse {
    /// The layer.
    pub layer: Layer,
    /// The class.
    pub class: Class,
    /// Events and checks of the base, over all pairs.
    pub base: (u64, u64),
    /// The same of the new build.
    pub new: (u64, u64),
    /// With a confidence of [`NotWorse::CONFIDENCE`], the new build has this share of additional events, from 0 to
    /// 1, or a smaller one. `None` if the pairs exclude nothing.
    pub at_most: Option<f64>,
    /// The causes that `at_most` leaves out.
    pub left_out: Vec<Noisy>,
    /// The number of pairs in which both builds have checks of the layer.
    pub pairs: usize,
    /// Whether the check goes on until it has a bound for this layer. The others have too few turns for one.
    pub is_required: bool,
}

/// A cause that a bound leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Noisy {
    /// Its name.
    pub cause: String,
    /// The bound on additional false stacks of this cause, from 0 to 1. `None` if the pairs exclude nothing.
    pub at_most: Option<f64>,
}

impl Noisy {
    /// How many more false stacks of this cause would not have been seen, in words.
    pub fn unseen(&self) -> String {
        self.at_most.map_or_else(|| "any number".into(), percent)
    }
}

/// The shares that are tried: so many for each power of ten, from the first to the last power.
const STEPS: i32 = 8;
const SHARES: std::ops::RangeInclusive<i32> = -6 * STEPS..=0;

/// How many pairs the bounds need at least, if all of them show the same.
const FEWEST: f64 = 8.0;

/// How often the additional events are drawn. The mean evidence of several draws depends on chance less.
const DRAWS: u64 = 8;

impl NotWorse {
    /// The confidence of each bound, whenever the pairs end.
    pub const CONFIDENCE: f64 = 0.95;

    /// The bound, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.at_most.unwrap_or(1.0)
    }

    /// Whether both builds have checks.
    pub fn is_measured(&self) -> bool {
        self.base.1 > 0 && self.new.1 > 0
    }

    /// How many times as many pairs bring the bound below `share`, about; 1 if it is there.
    pub fn times(&self, share: f64) -> f64 {
        match self.at_most {
            // With fewer pairs the evidence cannot be enough, whatever they show.
            None => FEWEST / self.pairs.max(1) as f64,
            // With so few events that chance decides, the bound falls with the number of checks.
            Some(bound) => bound / share,
        }
        .max(1.0)
    }

    pub(super) fn new(layer: Layer, class: Class, pairs: &[Paired], counted: Counted) -> NotWorse {
        NotWorse {
            layer,
            class,
            base: counted.base,
            new: counted.new,
            at_most: at_most(pairs),
            left_out: vec![],
            pairs: pairs.iter().filter(|pair| pair.has_checks()).count(),
            is_required: false,
        }
    }
}

impl NotWorse {
    /// The bound for a layer in which one false stack would have ended the check: the exact upper 95 % bound of a rate of
    /// which no event was seen.
    pub(super) fn none_seen(mut self) -> NotWorse {
        self.at_most = bound::upper95(0, self.new.1);
        self
    }
}

/// The smallest share of additional events that the pairs exclude, from 0 to 1.
pub(super) fn at_most(pairs: &[Paired]) -> Option<f64> {
    // The largest shares are excluded first.
    let shares = SHARES
        .rev()
        .map(|step| 10f64.powf(f64::from(step) / f64::from(STEPS)));
    shares.take_while(|&share| excludes(pairs, share)).last()
}

/// Whether the pairs exclude that this share of the new build's checks are additional events.
fn excludes(pairs: &[Paired], share: f64) -> bool {
    // Suppose that the new build has the base's events, and in each check an additional one with this probability.
    // If we inject as many into the base's turn, the two turns of a pair can be exchanged. Then "the new turn has
    // fewer" is as likely as "more", and the evidence for "fewer" is 20 or more with a probability of at most 5 %,
    // whenever we look. So shares that give such evidence can be excluded: the others are a confidence sequence
    // (Howard, Ramdas, McAuliffe and Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals
    // of Statistics 49, 2021). The mean of several gamblers' capitals is a gambler's capital, too.
    //
    // The gambler learns how often each program has "fewer", and stakes what was won in one program in the next. In some programs a
    // known mistake is so frequent, or checks are so few, that the coin alone decides. One stake for all programs would be too
    // small for those that tell much.
    let capital = |draw: u64| {
        let mut fewer: BTreeMap<usize, SignTest> = BTreeMap::new();
        for (at, pair) in pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| pair.has_checks())
        {
            let Both { base, new } = pair.both;
            let injected = additional(base.1 * share, mix((at as u64) << 8 | draw));
            let base = (base.0 + injected) / base.1;
            let new = new.0 / new.1;
            if base != new {
                fewer.entry(pair.program).or_default().add(new < base);
            }
        }
        let of_programs = fewer.values().map(|of| of.ln_evidence());
        of_programs.sum::<f64>().exp()
    };
    let mean = (0..DRAWS).map(capital).sum::<f64>() / DRAWS as f64;
    mean >= 1.0 / (1.0 - NotWorse::CONFIDENCE)
}

/// A Poisson number with this mean. With the same seed a larger mean gives a number that is not smaller, but for the
/// change to the normal distribution.
fn additional(mean: f64, seed: u64) -> f64 {
    /// From here on the normal distribution is close enough.
    const LARGE: f64 = 60.0;
    let uniform = |seed: u64| ((seed >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let u = uniform(seed);
    if mean > LARGE {
        // Box and Muller, 1958.
        let normal = (-2.0 * u.ln()).sqrt() * (TAU * uniform(mix(seed))).cos();
        return (mean + mean.sqrt() * normal).round().max(0.0);
    }
    let (mut number, mut term) = (0.0, (-mean).exp());
    let mut below = term;
    while u > below && number < 4.0 * LARGE {
        number += 1.0;
        term *= mean / number;
        below += term;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[Paired]) -> f64 {
        NotWorse::new(Layer::AsgctAsync, Class::False, pairs, Counted::default())
            .at_most
            .unwrap_or(1.0)
    }

    fn pair(base: (u64, u64), new: (u64, u64)) -> Paired {
        let counts = |(events, trials): (u64, u64)| (events as f64, trials as f64);
        Paired {
            program: 0,
            both: Both {
                base: counts(base),
                new: counts(new),
            },
        }
    }

    fn pairs(n: usize, base: (u64, u64), new: (u64, u64)) -> Vec<Paired> {
        vec![pair(base, new); n]
    }

    #[test]
    fn more_pairs_exclude_more() {
        let [few, many] = [10, 100].map(|n| of(&pairs(n, (0, 1000), (0, 1000))));
        assert!(many < few, "{many} {few}");
        // About eight events would have been seen.
        assert!((3e-5..2e-4).contains(&many), "{many}");
        let bound = |pairs: &[Paired]| {
            NotWorse::new(Layer::Gst, Class::False, pairs, Counted::default()).at_most
        };
        assert_eq!(bound(&[]), None);
        assert_eq!(bound(&pairs(3, (0, 10), (0, 10))), None);
    }

    #[test]
    fn a_build_that_is_worse_is_not_called_equal() {
        let worse = of(&pairs(60, (10, 1000), (40, 1000)));
        assert!((0.03..0.06).contains(&worse), "{worse}");
    }

    /// The bound is below the true share in at most one course of twenty, whenever one looks, also if turns differ much: here the
    /// rate of each turn is multiplied by a number from 0 to 4.
    #[test]
    fn the_bound_holds() {
        const COURSES: u64 = 300;
        let share = 0.004;
        let missed = |programs: u64| {
            let missed = (0..COURSES).filter(|course| {
                let turn = |pair: u64, side: u64, more: f64| {
                    let seed = mix(course << 32 | pair << 8 | side);
                    let factor = (seed % 5) as f64;
                    let known = additional(500.0 * 0.01 * factor, mix(seed));
                    (known + additional(500.0 * more, mix(seed ^ 77))) as u64
                };
                let of_program = |at: u64| Paired {
                    program: (at % programs) as usize,
                    ..pair((turn(at, 1, 0.0), 500), (turn(at, 2, share), 500))
                };
                let pairs: Vec<Paired> = (0..80).map(of_program).collect();
                let mut looks = (8..=pairs.len()).step_by(8);
                looks.any(|look| of(&pairs[..look]) < share)
            });
            missed.count() as f64 / COURSES as f64
        };
        for programs in [1, 12] {
            let missed = missed(programs);
            assert!(missed <= 0.05, "{programs} programs: {missed}");
        }
    }

    #[test]
    fn a_program_that_the_coin_decides_hides_no_other() {
        const LIMIT: f64 = 0.005;
        // Of six programs, two have 41 false stacks of 100 or 46, and the others none of 1,000.
        let quiet = |program: usize| Paired {
            program,
            ..pair((0, 1000), (0, 1000))
        };
        let noisy = |program: usize, at: usize| {
            let more = mix(at as u64) & 1;
            Paired {
                program,
                ..pair((41 + 5 * more, 100), (46 - 5 * more, 100))
            }
        };
        let round = |round: usize| {
            let noisy = (4..6).map(move |program| noisy(program, round * 2 + program));
            (0..4).map(quiet).chain(noisy)
        };
        let pairs: Vec<Paired> = (0..3).flat_map(round).collect();
        let apart = at_most(&pairs).expect("a bound");
        assert!(apart <= LIMIT, "{apart}");
        let mut as_one = pairs;
        as_one.iter_mut().for_each(|pair| pair.program = 0);
        assert!(at_most(&as_one).is_none_or(|bound| bound > LIMIT));
    }

    #[test]
    fn additional_events_have_their_mean() {
        for mean in [0.2, 3.0, 50.0, 500.0] {
            let n = 20_000;
            let sum: f64 = (0..n).map(|seed| additional(mean, mix(seed))).sum();
            let found = sum / n as f64;
            assert!(
                (found - mean).abs() < 5.0 * (mean / n as f64).sqrt(),
                "{mean} {found}"
            );
        }
    }
}
