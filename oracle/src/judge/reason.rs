//! Why a check got its verdict.

use crate::edge::Impossible;
use std::fmt;

/// Declares [`Reason`]: one row for each reason, with the phrase that reports show.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $phrase:literal;)*) => {
        /// Why a check got its verdict. Its `Display` is a short phrase for reports.
        #[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
            /// The class files forbid an edge of the walk.
            Edge(Impossible),
        }

        impl fmt::Display for Reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Reason::$name => $phrase,)*
                    Reason::Edge(fault) => fault.phrase(),
                })
            }
        }
    };
}

reasons! {
    /// Match: both stacks have the same frames.
    SameFrames = "same frames";
    /// Match: the shorter stack is the bottom part of the longer one.
    SameBottom = "same frames, as far as both go";
    /// Match: both stacks have the same frames below one method whose location moved.
    SameBelowMoved = "same frames below one that moved";
    /// Match: the newest hooked frame has no entry, as its BCI proves; the class files show that the
    /// frame below has called it; and all other frames agree.
    CalledWithoutEntry = "same frames, the newest without an entry";
    /// Match: the part of the stack that was asked for begins outside of the stack, and the walker said so.
    IllegalStart = "the start depth lies outside of the stack, as the answer says";
    /// Match: the class files forbid no edge.
    NoImpossibleEdge = "no edge is impossible";

    /// Window: a hook of the frame has not run yet, or has run already, and nothing shows who called the
    /// frame.
    HookPending = "entry not pushed yet, or popped";
    /// Window: the newest hooked frame starts an exception handler, and the entries above its own are of
    /// constructors that the exception has ended.
    EndedConstructors = "entries of constructors that an exception ended";

    /// Imprecise: the truth agrees with the debug info record before the program counter.
    BetweenRecords = "between two debug info records of compiled code";
    /// Imprecise: the walk shows the inlined frames of the debug info record behind the program
    /// counter, and the truth agrees from the compiled method's own frame on.
    NextRecord = "inlined frames of the next debug info record";
    /// Imprecise: the walk shows a compiled method at BCI 0, because no debug info record lies
    /// behind the program counter, and the truth agrees from that method on.
    StartOfMethod = "the start of a compiled method, for want of a debug info record";

    /// Error: the walker returned an error code.
    ErrorCode = "an error code";

    /// Truncated: the walk is the top part of the truth.
    BottomMissing = "the bottom is missing";
    /// Truncated: the walk ends where the frames of the carrier thread begin.
    CarrierMissing = "the carrier is missing";

    /// Wrong: a hooked frame must have an entry on the trace stack, which is empty.
    NeverPushed = "a hooked frame that never pushed";
    /// Wrong: no hooked frame of the trace stack is in the walk.
    NothingOfTruth = "no frame of the trace stack is there";
    /// Wrong: the walk lacks frames at its top.
    TopMissing = "frames of the top are missing";
    /// Wrong: below a checked frame the walk has another method.
    OtherMethodBelowChecked = "other method below a checked frame";
    /// Wrong: below a checked frame the walk has another location.
    OtherLocationBelowChecked = "other location below a checked frame";
    /// Wrong: the location of a checked frame lies before its entry hook or behind its exit hook.
    CheckedOutsideHooks = "a checked frame outside of its hooks";
    /// Wrong: the walk has a frame that the trace stack does not have.
    NotThere = "a frame that was not there";
    /// Wrong: the same method stands at another location.
    OtherLocation = "same method, other location";
    /// Wrong: the line is not the line of the frame's BCI.
    OtherLine = "another line than that of the BCI";
    /// Wrong: the thread has called a native method, and the top frame is not that of this method.
    OtherNativeTop = "the top is not the native method that the thread is in";
    /// Wrong: the answer is not the part of the stack that was asked for.
    OtherPart = "another part of the stack than the one asked for";
    /// Wrong: the part that was asked for begins outside of the stack, and the walker gave frames.
    IllegalStartAccepted = "frames from a start depth outside of the stack, and no ILLEGAL_ARGUMENT";
    /// Wrong: the part that was asked for is part of the stack, and the walker refused the start depth.
    LegalStartRefused = "ILLEGAL_ARGUMENT for a start depth inside of the stack";
    /// Wrong: another method.
    OtherMethod = "other method";
    /// Wrong: the walk is empty.
    NoFrame = "no frame at all";
    /// Wrong: the walk goes on below the bottom frame of the thread.
    BelowBottom = "frames below the bottom";
    /// Wrong: the hooks of a frame did not run in pairs.
    Unbalanced = "pushes and pops do not balance";

    /// Unverifiable: the walker says that no debug info record is at the program counter, and that inlined frames
    /// may be missing. The truth agrees from the compiled method's own frame on.
    Unrecorded = "inlined frames may be missing, as the walker says";
    /// Unverifiable: an exception may have ended constructors, for which no hook runs.
    LeavingConstructor = "an exception leaves a constructor";
    /// Unverifiable: a frame below the newest hooked one stands before its entry hook or behind its
    /// exit hook, at an instruction that may run other code.
    DeepOutsideHooks = "a deep frame outside of its hooks";
    /// Unverifiable: the newest hooked frame starts an exception handler, and entries above its own
    /// are of frames that are no constructors: hooks that failed have left them.
    StaleEntries = "an exception ended frames without their hooks";
    /// Unverifiable: a virtual thread is being mounted or unmounted.
    Mounting = "a mount or unmount is under way";
    /// Unverifiable: the carrier's frames agree, and the virtual thread's next stack is not known.
    NoVirtualThread = "the virtual thread's next stack is not known";
    /// Unverifiable: the trace stack is empty, and the walk has no hooked frame.
    NoHookedFrame = "no hooked frame";
    /// Unverifiable: the later walk is empty.
    NoFramesLater = "the thread had no frames any more";
    /// Unverifiable: the walk is empty.
    NoFramesYet = "the thread had no frames yet";
    /// Unverifiable: one frame has two different callees in the two stacks.
    TwoCallees = "one call site, two callees";
    /// Unverifiable: the two stacks have different bottom frames.
    OtherBottom = "another bottom frame";
    /// Unverifiable: somebody has changed the code of a hooked method, whose entry is not there.
    OtherCode = "somebody has changed a hooked method's code";
    /// Unverifiable: the class file of a method is no longer known.
    MethodGone = "a method was redefined or unloaded";
    /// Unverifiable: the walk of GetStackTrace that the truth rests on has a mismatch itself.
    ReferenceMismatch = "GetStackTrace itself has a mismatch";
    /// Unverifiable: a caller has no debug info record, or the data of the VM could not be read.
    NoStepTruth = "the steps do not show the frames of a caller";
    /// Unverifiable: no request was copied at the time of the event, or several were.
    NotJoined = "no request was copied at the event's time";
    /// Unverifiable: the walker says that the stack is that of a later safepoint.
    Biased = "the stack of a later safepoint, as the walker says";
    /// Unverifiable: the walker says that the stack was cut at its greatest depth, and the frames that are there
    /// are right.
    CutAsSaid = "cut at the walker's greatest depth, as the walker says";
    /// Unverifiable: the profiler could not name the method of a frame.
    Unnamed = "a frame whose method the profiler could not name";
    /// Unverifiable: the class files say nothing about any edge.
    NoKnownEdge = "no edge is known";
}
