//! Good and bad news.

use oracle::outcome::Outcome;

/// Whether something is good or bad news; renderers colour it.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Plain,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
}

impl From<Outcome> for Tone {
    fn from(outcome: Outcome) -> Tone {
        match outcome {
            Outcome::Within => Tone::Good,
            Outcome::Over | Outcome::NotMeasured | Outcome::Crashed => Tone::Bad,
        }
    }
}
