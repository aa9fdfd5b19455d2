//! Linux on x86-64.

mod context;
mod copies;
mod crossing;
mod guard;
#[cfg(test)]
mod special;
mod thunks;

pub use context::*;
pub use copies::{Copies, resume_behind_copy};
pub use crossing::{CROSSINGS, FORKS, crossing_left, enter_crossing, leave_crossing, system_call};
pub use guard::{leave_guarded, run_guarded};
#[cfg(test)]
pub use special::run_special_instructions;
pub use thunks::thunks;
