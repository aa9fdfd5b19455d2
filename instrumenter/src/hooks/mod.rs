//! The hooks: their code, the methods that they call, and the recognition of hooks.

pub(crate) mod code;
mod targets;

pub(crate) use code::Form;
pub use code::hook_id_of;
pub(crate) use targets::Targets;
pub use targets::{HookClass, Tokens};
