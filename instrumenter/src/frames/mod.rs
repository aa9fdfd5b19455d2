//! The `StackMapTable` (JVMS 4.7.4) of hooked code.

mod depth;
mod inferred;
mod mark;
mod stack_map;

pub(crate) use depth::{DepthScratch, deepest_return};
pub(crate) use inferred::{Inferred, frames as inferred};
pub(crate) use mark::{mark, most_slots};
pub(crate) use stack_map::Names;
pub(crate) use stack_map::{Scratch, StackMap};
