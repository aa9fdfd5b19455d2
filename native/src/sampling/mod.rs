//! The sampler: how it chooses a thread, asks it, and gets an answer from its signal handler.
//!
//! [`handler`] runs in the signal handler, and gets a
//! [`HandlerContext`](crate::jvm::os::signal::HandlerContext). Everything else runs on the
//! sampler's own thread ([`sampler`]). Both share the samples of [`asking`].

pub mod allocations;
pub mod altering;
mod asking;
pub mod handler;
mod pace;
pub mod requests;
pub mod sample;
pub mod sampler;
pub mod stepping;
pub mod targets;
