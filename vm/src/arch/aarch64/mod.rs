//! Linux on aarch64.

mod context;
mod loads;

pub use context::{registers, resume};
pub use loads::{LOADS, byte, bytes, half, int, prepare, resumption, word};
