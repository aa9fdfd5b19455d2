//! What the agent uses of the VM: JVMTI, AsyncGetCallTrace, and for evidence
//! the layout of its own data.

pub mod asgct;
pub mod code_cache;
pub mod debug_info;
pub mod java_thread;
pub mod jvmti;
mod peek;
pub mod structs;
pub mod symbols;

pub use peek::peek_bytes;
