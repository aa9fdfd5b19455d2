//! The caller of interrupted code, found by the code itself.
//!
//! * `machine`: runs instructions on registers that are only partly known;
//! * [`exit`]: simulates the code up to its return;
//! * [`settled`]: simulates the code up to a place where its frame is as the tables say.

pub mod exit;
mod machine;
pub mod settled;

use super::instructions::{Op, decode};
use crate::memory::Memory;

/// The instruction at `pc`.
pub(super) fn instruction(memory: &impl Memory, pc: usize) -> Option<Op> {
    if !pc.is_multiple_of(4) {
        return None;
    }
    decode(memory.u32(pc)?, pc)
}
