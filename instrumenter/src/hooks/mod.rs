//! The hooks: their code, the methods that they call, and the recognition of hooks.

mod class;
pub(crate) mod code;
mod recognise;
mod targets;

pub use class::{HookClass, Tokens};
pub(crate) use code::Form;
pub use recognise::hook_id_of;
pub(crate) use targets::Targets;
