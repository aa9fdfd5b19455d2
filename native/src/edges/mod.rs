//! Judges stacks by the class files of the loaded classes.
//!
//! The class files are those that the VM got, with the agent's hooks if there are any, so BCIs of
//! walks need no mapping.

mod judge;
mod walks;

pub use judge::{EdgeJudge, Patience, found_edges, odd_edges};
pub use walks::Memo;
pub use walks::Thread;
