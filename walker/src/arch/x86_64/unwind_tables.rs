//! The general registers by DWARF's numbers.

use hotspot::arch::Register;

/// How many general registers have numbers.
pub const REGISTERS: usize = 16;

/// The number of the stack pointer.
pub const STACK_POINTER: usize = 7;

/// The number of the return address, behind the registers.
pub const RETURN_ADDRESS: usize = 16;

/// The registers by DWARF's numbers (System V ABI for x86-64, figure 3.36).
const NUMBERS: [u8; REGISTERS] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns the register of DWARF's `number`.
pub fn register(number: usize) -> Option<Register> {
    NUMBERS.get(number).copied().map(Register::new)
}
