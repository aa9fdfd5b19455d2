//! The sampler: how it chooses a thread, asks it, and gets an answer from its signal handler.

pub mod asking;
mod bell;
mod pace;
pub mod sample;
pub mod sampler;
mod signal;
mod stack_top;
pub mod targets;
