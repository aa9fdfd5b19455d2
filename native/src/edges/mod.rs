//! Judging stacks by the class files of the classes that were loaded.
//!
//! What is kept are the classes as the VM got them, our own hooks included where there are any: BCIs of
//! walks need no mapping.

mod judge;
pub mod show;
mod walks;

pub use judge::{EdgeJudge, Patience};
pub use walks::Thread;
