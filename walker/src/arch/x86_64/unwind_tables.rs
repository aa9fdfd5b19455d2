//! The general registers by DWARF's numbers.

use hotspot::arch::Register;

/// The registers by DWARF's numbers (System V ABI for x86-64, figure 3.36). The return address has the next, 16.
const NUMBERS: [u8; 16] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns the register of DWARF's `number`.
pub fn register(number: usize) -> Option<Register> {
    NUMBERS.get(number).copied().map(Register::new)
}
