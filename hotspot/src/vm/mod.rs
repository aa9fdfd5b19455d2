//! HotSpot's data structures, by its own description (`share/runtime/vmStructs.cpp`), and how to
//! read them from memory.

pub mod debug_info;
pub mod entry;
pub mod fields;
pub mod flags;
pub mod frame_complete;
pub mod interpreter;
pub mod nmethod;
pub mod thread_state;
