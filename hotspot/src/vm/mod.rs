//! Where HotSpot keeps what, by its own description (`share/runtime/vmStructs.cpp`), and how to read
//! that from memory.

pub mod debug_info;
pub mod entry;
pub mod fields;
pub mod interpreter;
pub mod nmethod;
