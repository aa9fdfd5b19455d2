//! The trace stack: what one thread's hooks say of its stack.
//!
//! `entries` holds the hooked frames, index 0 the bottom. `frames` holds the whole stack,
//! unhooked frames included, as it was at the newest `check` whose frame is still active:
//! a checked caller's frames are a part of its callee's, so that the stack of stack traces
//! is stored once. Each entry says how many frames belong to the nearest checked frame at
//! or below it; the last of them is that frame, and its location moves.
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

pub use copy::StackCopy;
pub use stack::{Balance, Token, TraceStack};
