//! A safe face over the operating system: memory, clocks, futexes, signals and threads.

pub mod clock;
pub mod earlier;
pub mod handoff;
pub mod memory;
pub mod requests;
pub mod signal;
pub mod signal_set;
pub mod thread;
pub mod thread_owned;
pub mod trap;
