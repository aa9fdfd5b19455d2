//! The trace stack: the stack of one thread by its hooks.
//!
//! `entries` holds the hooked frames, index 0 the bottom. `frames` holds the whole stack, unhooked
//! frames included, as it was at the newest `check` whose frame is still active: a checked caller's
//! frames are a part of its callee's frames, so each frame is stored once. Each entry says how many
//! frames belong to the nearest checked frame at or below the entry. The last of them is that
//! checked frame, and its location changes while it runs.
//!
//! # The entry of a frame
//! A hooked method's entry is named by a token, the depth before its push, or by its hook's id:
//! then the newest entry with this id is meant. `hooks/code.rs` of `instrumenter` says which
//! methods use a token, and why the id is enough for the others.
//!
//! The id is not enough after an error of the VM, which may end frames without a hook: in a
//! recursion the newest entry may then belong to a frame that has ended. So the stack is in *doubt*
//! from the first hook that sees such an error. In doubt the trace stack claims nothing. A hook
//! ends the doubt if it certainly names an entry from before the doubt. Then the entry's frame is
//! active, the frames that have ended were newer, and their entries are removed. Such a hook
//! belongs to a method with a token, or to a method that is on the stack once. Where code without
//! hooks caught the error there may be no such hook: then the next push asks GetStackTrace which
//! frames are active (`layers/at_check.rs`).
//!
//! Plain hooks, in Java, cannot stop in doubt. So an entry that is there when the doubt begins is marked: the lowest entry
//! without a mark tells how far the stack has been popped since (`doubt`, `by_java`).
//!
//! # Signals
//! Only the owning thread writes. Its signal handler may interrupt it between any two instructions
//! and must see a consistent stack. So every change first writes words that no reader uses yet, and
//! then one word that makes the change visible:
//!
//! * `push` writes the entry above the depth, then the depth;
//! * `pop` lowers the depth;
//! * a check writes frames at and above the newest checked frame (whose own location no
//!   reader uses, because it moves), then the top entry's `checked`;
//! * an exception that leaves a frame marks the entry below, one bit of its `hook`.
//!
//! Compiler fences keep this order. Within a thread the processor keeps the order by itself.
//!
//! # The kinds of hooks
//! Four kinds of hooks write it; what they share with the agent is `Head` in `native/src/truth/trace_stack/head.rs`.
//!
//! | kind | runs | before it changes the trace stack | when the agent learns of it |
//! | --- | --- | --- | --- |
//! | exact, native | in the agent (`native/src/hooks.rs`) | compares its entry with the trace stack | at once |
//! | exact, in Java: where a thread runs over half a million hooks a second (so many, chosen at random, stay native) | in Java that no compiler inlines | `limit` must be above 0, and the newest entry its own; else the native hook runs | at the next native hook: `limit` counts the hooks that are left (`in_java.rs`, `trace_stack/pace.rs`) |
//! | light, asking: one method in eight | in Java that compilers inline | the depth must be below `limit`, and the newest entry its own; else the native hook runs | never, unless the agent sets `limit` to 0: for a check that is due |
//! | light, plain: all others | in Java that compilers inline | asks nothing, because a branch to a native method would cost more compile time than the rest of the hook | at the next native hook, or the next copy: `mismatches` has the bits in which entries differed, and the last entry shows an overflow (`trace_stack/by_java.rs`) |

mod by_java;
mod copy;
mod doubt;
mod head;
mod pace;
mod stack;
#[cfg(test)]
mod tests;

pub use by_java::Left;
pub use copy::StackCopy;
pub use head::Unusable;
pub use head::{Balance, Token};
pub use pace::{HookCounts, Pace};
pub use stack::TraceStack;
