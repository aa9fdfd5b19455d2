//! The general registers by DWARF's numbers.

use hotspot::arch::Register;

/// How many general registers have numbers (DWARF for the Arm 64-bit Architecture, 4.1): x0 to x30, and the stack pointer.
pub const REGISTERS: usize = 32;

/// The number of the stack pointer.
pub const STACK_POINTER: usize = 31;

/// The number of the return address: the link register.
pub const RETURN_ADDRESS: usize = 30;

/// Returns the register of DWARF's `number`.
pub fn register(number: usize) -> Option<Register> {
    let number = u8::try_from(number).ok()?;
    (usize::from(number) < REGISTERS).then(|| Register::new(number))
}
