//! What the agent uses of the operating system.

pub mod cpu_time;
pub mod peek;
pub mod reserved;
pub mod thread_word;
