//! What the agent uses of the VM and of the system below it: JVMTI, AsyncGetCallTrace, and for
//! evidence the layout of the VM's own data.

pub mod asgct;
pub mod code_cache;
pub mod debug_info;
pub mod java_thread;
pub mod jvmti;
pub mod os;
pub mod structs;
pub mod symbols;
