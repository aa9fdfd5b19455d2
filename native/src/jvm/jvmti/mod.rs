//! The parts of JVMTI that the agent uses: one file for each subject of the specification.

mod classes;
mod env;
mod events;
mod extension;
mod memory;
mod methods;
mod stacks;
mod threads;

pub use classes::class_name;
pub use env::{Error, JMethodId, Jvmti};
pub use events::{ClassFile, Event, Events, ThreadCallback};
pub use extension::GetVirtualThread;
pub use methods::MethodName;
pub use threads::Suspended;
pub use vm::jvmti::{Capability, FrameInfo};
