//! Child processes: their start, their end, the CPU time that they took.

mod child;
mod guard;
pub mod interrupt;
pub(crate) mod leftovers;
pub mod machine;
mod output;
pub(crate) mod setsid;
mod tree;

pub(crate) use child::{Ended, Group, Process};
pub(crate) use output::output;
