//! The reader of a live HotSpot: what the VM of this process publishes about itself, and its memory.
//!
//! # Purpose
//!
//! The agent and the walker read the same VM. [`hotspot::layout`] knows the names and the layouts of its structures, and
//! is pure. This crate looks the names up in the running VM, and reads.
//!
//! | module | holds |
//! |---|---|
//! | [`jvmti`] | JVMTI's functions by name |
//! | [`library`] | the VM's library and its symbols |
//! | [`memory`] | readers of memory that may be unmapped |
//! | [`registers`] | the registers of interrupted code |
//! | [`threads`] | from a JNI environment to the VM's thread |
//! | [`current`] | the thread that runs here, for walks in handlers |
//! | [`notifier`] | how handlers wake a thread |
//! | [`ring`] | how handlers pass values to a thread |
//! | [`sync`] | the atomics of these channels |
//! | [`tables`] | the published tables, by name |
//!
//! What the VM does not publish is a [`hotspot::layout::fields::Missing`], which callers must report.

mod arch;
pub mod current;
mod futex;
pub mod jvmti;
pub mod library;
pub mod memory;
pub mod notifier;
pub mod ring;
pub mod sync;
pub mod tables;
pub mod threads;

pub use arch::registers;
