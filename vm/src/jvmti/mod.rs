//! JVMTI, as far as both the agent and the walker use it: its functions by name, capabilities, and HotSpot's own
//! functions.

mod capabilities;
mod env;
mod interface;

pub use capabilities::Capability;
pub use env::{GetVirtualThread, THREAD_SUSPENDED, ok};
pub use interface::{
    Env, Error, ExtensionEventInfo, ExtensionFunctionInfo, FrameInfo, Interface, JMethodId,
    LineNumberEntry, StackInfo,
};
