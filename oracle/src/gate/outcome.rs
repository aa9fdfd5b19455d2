//! The outcome of a report.

use std::fmt;

/// The outcomes, from the best to the worst.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Outcome {
    /// Every layer is within its budget.
    Within,
    /// At least one layer is over its budget.
    Over,
    /// There is no decision.
    NotMeasured,
    /// A JVM crashed, or had to be ended.
    Crashed,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Outcome; 4] = [
        Outcome::Within,
        Outcome::Over,
        Outcome::NotMeasured,
        Outcome::Crashed,
    ];

    /// A short name for programs: `within`, `over`, `not-measured` or `crashed`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Within => "within",
            Outcome::Over => "over",
            Outcome::NotMeasured => "not-measured",
            Outcome::Crashed => "crashed",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Within => "within budget",
            Outcome::Over => "over budget",
            Outcome::NotMeasured => "could not measure",
            Outcome::Crashed => "the JVM crashed or hung",
        })
    }
}
