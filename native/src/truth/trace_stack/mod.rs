//! The trace stack: what one thread's hooks say of its stack.
//!
//! `entries` holds the hooked frames, index 0 the bottom. `frames` holds the whole stack,
//! unhooked frames included, as it was at the newest `check` whose frame is still active:
//! a checked caller's frames are a part of its callee's, so that the stack of stack traces
//! is stored once. Each entry says how many frames belong to the nearest checked frame at
//! or below it; the last of them is that frame, and its location moves.
//!
//! # Which entry is a frame's
//! A hooked method's entry is named by a token, the depth before its push, or by its hook's id:
//! then the newest entry with this id is meant. `instrumenter` says in `hooks/code.rs` which
//! methods do which, and why the id is enough.
//!
//! It is not enough after an error of the VM, which may end frames without a hook: in a recursion
//! the newest entry may then be of a frame that has ended. So the stack is in *doubt* from the
//! first hook that meets such an error. In doubt nothing is claimed. A hook ends the doubt if it
//! surely names an entry from before the doubt, because its frame is active: the frames that have
//! ended were newer, and their entries go. Such a hook is that of a method with a token or of one
//! that is on the stack once. Where code without hooks caught the error there may be no such hook:
//! then the next push asks GetStackTrace which frames are active (`layers/settling.rs`).
//!
//! # Signals
//! Only the owning thread writes. Its signal handler may interrupt it between any two
//! instructions and must see a consistent stack. So every change writes first what no
//! reader looks at yet, and then one word that makes it visible:
//!
//! * `push` writes the entry above the depth, then the depth;
//! * `pop` lowers the depth;
//! * a check writes frames at and above the newest checked frame (whose own location no
//!   reader uses, because it moves), then the top entry's `checked`;
//! * an exception that leaves a frame marks the entry below, one bit of its `hook`.
//!
//! Compiler fences keep that order; the processor keeps its own thread's order by itself.

mod copy;
mod entry;
mod stack;
#[cfg(test)]
mod tests;
mod token;

pub use copy::StackCopy;
pub use stack::TraceStack;
pub use token::{Balance, Token};
