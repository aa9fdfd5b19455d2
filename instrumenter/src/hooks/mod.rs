//! The hooks: their code, what they call, and how to recognise them.

pub(crate) mod code;
mod recognise;
mod targets;

pub use recognise::hook_id_of;
pub(crate) use targets::Targets;
