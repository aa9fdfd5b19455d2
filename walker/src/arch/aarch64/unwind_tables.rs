//! Nobody walks C code of this architecture.

use hotspot::arch::Register;

/// No number is known.
pub fn register(_: usize) -> Option<Register> {
    None
}
