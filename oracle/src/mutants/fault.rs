//! The kinds of faults that are injected into what walkers answer.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares [`FaultKind`]: one row for each kind, with its name on the command line.
macro_rules! faults {
    ($($(#[$doc:meta])* $kind:ident = $name:literal;)*) => {
        /// The kinds of faults: how a faulty stack differs from what the walker answered.
        #[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
        pub enum FaultKind {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: [FaultKind; [$($name),*].len()] = [$(FaultKind::$kind),*];

            /// Its name, as on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }
        }
    };
}

faults! {
    /// The top frame is left out.
    DropTop = "drop-top";
    /// The stack is cut at a random depth.
    DropBottom = "drop-bottom";
    /// The stack is cut after a fixed number of frames.
    CutAtDepth = "cut-at-depth";
    /// The stack is cut above the uppermost native frame that is not the top.
    CutAtNative = "cut-at-native";
    /// Nothing but the top frame is left.
    TopOnly = "top-only";
    /// A frame between top and bottom is left out.
    DropMiddle = "drop-middle";
    /// A frame appears twice.
    Repeat = "repeat";
    /// Two frames change places.
    Swap = "swap";
    /// Two neighbours change places, as where inlined frames are decoded from the wrong end.
    SwapNeighbours = "swap-neighbours";
    /// A frame of another stack stands in the middle, at BCI 0.
    InsertAtStart = "insert-at-start";
    /// A frame names another method of its class.
    Sibling = "sibling";
    /// A frame names no method.
    NoMethod = "no-method";
    /// A frame names a method that the VM never gave out.
    UnknownMethod = "unknown-method";
    /// A frame's BCI is one higher or lower.
    ShiftBci = "shift-bci";
    /// The BCI of every frame is one higher.
    EveryBci = "every-bci";
    /// A frame's BCI lies inside an instruction.
    InsideInstruction = "inside-instruction";
    /// A frame's BCI lies past the end of the code.
    PastEnd = "past-end";
    /// A frame of Java code is said to be native.
    NativeLocation = "native-location";
    /// What the walker said of the same thread before.
    PreviousTrace = "previous-trace";
    /// What the walker said of another thread.
    OtherThread = "other-thread";
    /// A frame lies on top that is not there.
    PhantomTop = "phantom-top";
    /// An error code instead of a stack.
    Error = "error";
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
