//! The kinds of faults that are injected into the answers of walkers.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares [`FaultKind`]: one row for each kind, with its name on the command line and the
/// contents of the faulty stack.
macro_rules! faults {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $phrase:literal;)*) => {
        /// The kinds of faults: how a faulty stack differs from the walker's answer.
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

            /// The contents of a faulty stack, in place of the walker's frames.
            pub fn phrase(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $phrase,)*
                }
            }
        }
    };
}

faults! {
    /// The top frame is left out.
    DropTop = "drop-top", "all frames but the top";
    /// The native method at the top is left out, also that of a hook.
    DropNativeTop = "drop-native-top", "all frames but the native method at the top";
    /// The stack is cut at a random depth.
    DropBottom = "drop-bottom", "the frames above a random depth";
    /// The stack is cut after a fixed number of frames.
    CutAtDepth = "cut-at-depth", "the uppermost 16 frames";
    /// The stack is cut above the uppermost native frame that is not the top.
    CutAtNative = "cut-at-native", "the frames above the uppermost native frame below the top";
    /// Only the top frame is left.
    TopOnly = "top-only", "the top frame alone";
    /// A frame between top and bottom is left out.
    DropMiddle = "drop-middle", "one frame between top and bottom less";
    /// A frame appears twice.
    Repeat = "repeat", "one frame twice";
    /// Two frames are exchanged.
    Swap = "swap", "two frames exchanged";
    /// Two neighbours are exchanged, as if inlined frames were decoded from the wrong end.
    SwapNeighbours = "swap-neighbours", "two neighbours exchanged";
    /// A frame of another stack is inserted in the middle, at BCI 0.
    InsertAtStart = "insert-at-start", "a frame of another stack at BCI 0 in the middle";
    /// A frame names another method of its class.
    Sibling = "sibling", "another method of the same class in one frame";
    /// A frame names no method.
    NoMethod = "no-method", "no method ID in one frame";
    /// A frame names a method that the VM never gave out.
    UnknownMethod = "unknown-method", "a method ID in one frame that the VM never gave out";
    /// A frame's BCI is one higher or lower.
    ShiftBci = "shift-bci", "a BCI one higher or lower in one frame";
    /// The BCI of every frame is one higher.
    EveryBci = "every-bci", "a BCI one higher in every frame";
    /// A frame's BCI lies inside an instruction.
    InsideInstruction = "inside-instruction", "a BCI inside an instruction in one frame";
    /// A frame's BCI lies past the end of the code.
    PastEnd = "past-end", "a BCI past the end of the code in one frame";
    /// A frame of Java code is marked as native.
    NativeLocation = "native-location", "-3 as the BCI of one frame of Java code";
    /// An earlier answer on the same thread.
    PreviousTrace = "previous-trace", "the frames of an earlier stack of the thread";
    /// An answer on another thread.
    OtherThread = "other-thread", "the frames of another thread";
    /// A frame that was not there is added on top.
    PhantomTop = "phantom-top", "one frame more on top";
    /// An error code instead of a stack.
    Error = "error", "no frames, but an error code";
    /// An error code that the walker has for threads in other states.
    CodeOfOtherState = "code-of-other-state", "no frames, but an error code that the walker has for threads in other states";
    /// A part of a stack begins one frame too deep.
    StartDepth = "start-depth", "of a part of a stack, the frames from one depth further down";
    /// A part of a stack lacks its last frame.
    FrameCount = "frame-count", "of a part of a stack, one frame fewer than asked for";
    /// A part that begins outside of the stack is not refused.
    AnyDepth = "any-depth", "frames, where the start depth of a part lies outside of the stack";
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
