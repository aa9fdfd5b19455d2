//! The two parts of a method's bias, each with an interval.

use super::pairs::OfMethod;
use crate::probability::binomial::{even, rate, same_rate};

/// A difference of two shares, with the interval that holds the true difference with a probability of at least
/// 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The observed difference, from -1 to 1.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// The sum of two differences. The interval holds the sum if both intervals hold theirs.
    pub(super) fn plus(self, other: Estimate) -> Estimate {
        Estimate {
            value: self.value + other.value,
            low: (self.low + other.low).max(-1.0),
            high: (self.high + other.high).min(1.0),
        }
    }
}

/// The naming bias of a method among `answered` instants, with the p-value of there being none. Given how many
/// instants the method has won or lost, it has won each with one probability.
pub(super) fn naming(of: OfMethod, answered: u64, alpha: f64) -> (Estimate, f64) {
    let discordant = of.won + of.lost;
    let share = |won: f64| match answered {
        0 => 0.0,
        _ => (2.0 * won - 1.0) * discordant as f64 / answered as f64,
    };
    let value = match discordant {
        0 => 0.0,
        _ => share(of.won as f64 / discordant as f64),
    };
    let won = rate(of.won, discordant, alpha);
    let estimate = Estimate {
        value,
        low: share(*won.start()),
        high: share(*won.end()),
    };
    (estimate, even(of.won, discordant))
}

/// The instant bias of a method among `instants`, of which the walker answered `answered`, with the p-value of there
/// being none. Given how often the method ran, the walker answers with one rate while the method runs, and with
/// another rate while others run.
pub(super) fn instant(of: OfMethod, instants: u64, answered: u64, alpha: f64) -> (Estimate, f64) {
    let (others, of_others) = (instants - of.truth, answered - of.answered);
    let truth = of.truth as f64 / instants.max(1) as f64;
    let bias = |own: f64, other: f64| {
        let (own, other) = (own * truth, other * (1.0 - truth));
        if own + other > 0.0 {
            own / (own + other) - truth
        } else {
            0.0
        }
    };
    let observed = |k: u64, n: u64| k as f64 / n.max(1) as f64;
    // Each of the two rates lies outside of its interval with half of the probability.
    let own = rate(of.answered, of.truth, 0.5 * alpha);
    let other = rate(of_others, others, 0.5 * alpha);
    let estimate = Estimate {
        value: bias(observed(of.answered, of.truth), observed(of_others, others)),
        low: bias(*own.start(), *other.end()),
        high: bias(*own.end(), *other.start()),
    };
    let p = same_rate((of.answered, of.truth), (of_others, others));
    (estimate, p)
}
