//! Walkers that run Java code: the stack traces that Java programs and `jcmd` ask for.
//!
//! Each of them is one file. [`asker`] asks them on a thread of its own.

pub mod asker;
pub mod mxbean;
mod prepared;
pub mod thread;
pub mod thread_print;

pub use prepared::find;
