//! An entry of the trace stack: the contract between those who write entries and those who judge by them.
//!
//! The trace stack is the truth about hooked code: each hooked method pushes an entry where it
//! starts, and pops the entry where it ends. `instrumenter` writes the hooks, the agent keeps the
//! trace stack, and `oracle` compares the walks of the JVM with it. An entry is a [`HookId`]; a
//! [`Presence`] is what the BCI of a frame proves about the frame's entry.
//!
//! `instrumenter` can be used without a judge, and `oracle` without a rewriter, so neither depends on the
//! other.

/// The number of a hooked method, which its entry hook pushes. The caller of `instrumenter` chooses
/// the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HookId(pub u32);

/// What the BCI of a frame of a hooked method proves about the frame's entry on the trace stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Presence {
    /// The entry is not there: before the call of `push`, or after the call of `pop` up to the
    /// return or throw.
    Absent,
    /// The entry may already be there: `push` is being called.
    Pushing,
    /// The entry is there: in the method's own code.
    Present,
    /// The entry may already be gone: `pop` is being called.
    Popping,
    /// The entry is there, and entries of frames that an exception ended without a hook may still
    /// lie above it: at the start of an exception handler. (The verifier lets no handler cover
    /// the call of `super(...)`, JVMS 4.10.1.4.)
    Catching,
    /// Both [`Presence::Popping`] and [`Presence::Catching`]: the exceptional `pop` is being
    /// called.
    Unwinding,
    /// Nothing is known: the code that runs is not the code that the hooks were written into, because
    /// somebody has changed the code since.
    Unknown,
}
