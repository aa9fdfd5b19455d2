//! The expected end of an injected fault.

use super::Verdict;
use serde::{Deserialize, Serialize};

/// The expected end of a faulty answer.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// The fault can be seen: this verdict is right.
    Verdict(Verdict),
    /// The truth of the layer cannot show the fault.
    Unseen(Unseen),
    /// The truth allows the faulty stack, and the reason is not known.
    Unexplained,
}

/// Declares [`Unseen`]: one row for each reason, with the sentence that documents show.
macro_rules! unseen {
    ($($(#[$doc:meta])* $reason:ident = $phrase:literal;)*) => {
        /// Why the truth of a layer does not distinguish a faulty answer from the walker's own
        /// answer.
        #[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Unseen {
            $($(#[$doc])* $reason,)*
        }

        impl Unseen {
            /// All reasons.
            pub const ALL: [Unseen; [$($phrase),*].len()] = [$(Unseen::$reason),*];

            /// The reason as a sentence.
            pub fn phrase(self) -> &'static str {
                match self {
                    $(Unseen::$reason => $phrase,)*
                }
            }
        }
    };
}

unseen! {
    /// The trace stack is empty, and the faulty stack names no frame that must be on it.
    NoTruth = "The trace stack is empty, and the faulty stack names no frame that must be on it.";
    /// Only unhooked frames above the newest checked frame differ.
    Unhooked = "Only unhooked frames above the newest checked frame differ, and class files allow them.";
    /// Only locations that move differ: those of the newest checked frame and of the frames above
    /// it, each on the same side of its method's hooks.
    Moves = "Only BCIs differ of frames that move: the newest checked frame and those above. Class files allow them.";
    /// All frames that differ have locations which prove that they may, or must, be missing from
    /// the trace stack.
    HookWindow = "Only frames differ that the hooks have not reached yet, or have left already.";
    /// The walk's newest hooked frame is at the start of an exception handler: entries of frames
    /// that the exception ended may be above its own entry.
    Catching = "The newest hooked frame starts an exception handler: entries of frames that the exception ended may lie above.";
    /// An exception leaves constructors, for which no hook runs: the faulty stack and the honest
    /// walk have different numbers of such constructors.
    Leaving = "An exception leaves constructors, for which no hook runs.";
    /// The faulty or the true walk shows a virtual thread being mounted or unmounted, where nothing
    /// is known.
    Mounting = "One of the stacks shows a virtual thread being mounted or unmounted, where nothing is known.";
    /// The bottom is unchanged. Any frame above may have moved, been called or returned until the
    /// later walk. If class files are kept, they allow this.
    RanOn = "The thread may have run on to the later stack, and class files allow the faulty stack.";
    /// The later walk does not show the frame that the faulty stack has at its bottom, so the
    /// thread may have had another bottom. If class files are kept, they allow this.
    OtherBottom = "The thread may have had another bottom frame, and class files allow the faulty stack.";
    /// In layer `call-edge`: only the depth of a recursion differs, that is how many equal frames
    /// lie on each other; the class files allow any depth.
    Recursion = "Only the depth of a recursion differs, and class files allow any depth.";
    /// In layer `call-edge`: the class files allow every edge of the faulty stack.
    Allowed = "The class files allow every edge of the faulty stack.";
    /// In layer `call-edge`: the class files forbid no edge of the faulty stack, and say
    /// nothing about at least one.
    UnknownEdge = "The class files forbid no edge of the faulty stack, and say nothing about at least one.";
    /// In layers of steps: the faulty stack is another stack that is true at this instruction, which builds
    /// or removes a frame, or has no debug info record.
    Unsettled = "At this instruction several stacks are true: a frame is being built or removed, or its BCI is not known.";
    /// The stacks differ in frames that the API may leave out.
    LeftOut = "The stacks differ only in frames that the API may leave out.";
    /// A method of the faulty stack was redefined or unloaded, so its calls are not known.
    Gone = "Nobody knows which method a frame of the faulty stack is of.";
    /// The sample stands between two debug info records of compiled code, and the record before
    /// agrees with the truth.
    BetweenRecords = "The sample stands between two debug info records, and the record before agrees with the truth.";
    /// In `ground`: an exception out of a call of `super(...)`, which no handler can cover,
    /// leaves the constructor's entry in just this way.
    Constructor = "An exception out of a call of `super(...)` leaves the trace stack in just this way.";
    /// In `ground`: the VM stops hooks in just this way with its own errors, and threw one.
    VmError = "An error of the VM stops hooks in just this way, and the VM threw one.";
    /// In `ground`: an exit that throws after its `pop` leaves the trace stack in just this
    /// way.
    ThrewAfterPop = "An exit that throws after its `pop` leaves the trace stack in just this way.";
    /// In `ground`: the frame that would have noticed the fault had not ended at the end of the
    /// run.
    StillActive = "The frame that would have noticed the fault had not ended when the run did.";
}
