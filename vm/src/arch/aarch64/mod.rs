//! Linux on aarch64.

mod context;
mod loads;

pub use context::{registers, resume};
pub use loads::{byte, bytes, half, int, word};

use hotspot::arch::NotKnown;

/// Loads that fault are taken back.
pub const LOADS: Result<(), NotKnown> = Ok(());
