//! The kinds of faults that are injected into what walkers answer.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The kinds of faults: how a faulty stack differs from what the walker answered.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The top frame is left out.
    DropTop,
    /// The stack is cut at a random depth.
    DropBottom,
    /// A frame between top and bottom is left out.
    DropMiddle,
    /// A frame appears twice.
    Repeat,
    /// Two frames change places.
    Swap,
    /// A frame names another method of its class.
    Sibling,
    /// A frame's BCI is one higher or lower.
    ShiftBci,
    /// What the walker said of the same thread before.
    PreviousTrace,
    /// What the walker said of another thread.
    OtherThread,
    /// A frame lies on top that is not there.
    PhantomTop,
    /// An error code instead of a stack.
    Error,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 11] = [
        FaultKind::DropTop,
        FaultKind::DropBottom,
        FaultKind::DropMiddle,
        FaultKind::Repeat,
        FaultKind::Swap,
        FaultKind::Sibling,
        FaultKind::ShiftBci,
        FaultKind::PreviousTrace,
        FaultKind::OtherThread,
        FaultKind::PhantomTop,
        FaultKind::Error,
    ];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::DropTop => "drop-top",
            FaultKind::DropBottom => "drop-bottom",
            FaultKind::DropMiddle => "drop-middle",
            FaultKind::Repeat => "repeat",
            FaultKind::Swap => "swap",
            FaultKind::Sibling => "sibling",
            FaultKind::ShiftBci => "shift-bci",
            FaultKind::PreviousTrace => "previous-trace",
            FaultKind::OtherThread => "other-thread",
            FaultKind::PhantomTop => "phantom-top",
            FaultKind::Error => "error",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(name: &str) -> Result<FaultKind, String> {
        FaultKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                let known = FaultKind::ALL.map(FaultKind::name).join(", ");
                format!("unknown fault `{name}`; known: {known}")
            })
    }
}
