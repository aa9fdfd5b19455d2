//! Linux on aarch64.

mod context;
mod copies;
mod crossing;
mod guard;
mod thunks;

pub use context::*;
#[cfg(test)]
pub use copies::run_special_instructions;
pub use copies::{Copies, resume_behind_copy};
pub use crossing::{CROSSINGS, FORKS, crossing_left, enter_crossing, leave_crossing, system_call};
pub use guard::{leave_guarded, run_guarded};
pub use thunks::thunks;
