//! The parts of JVMTI that the agent uses: one file for each subject of the specification.

mod classes;
mod env;
mod events;
mod threads;

pub use classes::MethodName;
pub use classes::class_name;
pub use env::GetVirtualThread;
pub use env::{Error, JMethodId, Jvmti};
pub use events::{ClassFile, Event, Events, ThreadCallback};
pub use threads::Suspended;
pub use vm::jvmti::{Capability, FrameInfo};
