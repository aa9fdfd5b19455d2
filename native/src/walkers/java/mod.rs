//! Walkers that run Java code: the stack traces that Java programs and `jcmd` ask for.
//!
//! Each of them is one file. [`asker`] asks them on a thread of its own.

pub mod all;
pub mod asker;
mod fields;
pub mod mxbean;
pub mod mxbean_all;
mod prepared;
pub mod thread;
pub mod thread_print;
mod threads_bean;

pub use prepared::find;
