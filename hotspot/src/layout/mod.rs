//! HotSpot's data structures, by its own description (`share/runtime/vmStructs.cpp`), and how to
//! read them from memory.
//!
//! This folder alone knows names of fields, types and constants. Each layout is found in
//! [`fields::Fields`], or says what is [`Missing`](fields::Missing).

pub mod bytecodes;
pub mod code_cache;
pub mod collection;
pub mod debug_info;
pub mod entry;
pub mod fields;
pub mod flags;
pub mod generic;
pub mod interpreter;
pub mod loaded;
pub mod method;
pub mod method_ids;
pub mod nmethod;
pub mod objects;
pub mod oop_maps;
pub mod thread;
pub mod thread_state;
pub mod trace_ids;
pub mod unpacked;
pub mod waiting;
