//! The general registers.

use crate::arch::{Register, Values};

/// The values of the general registers: x0 to x30, and the stack pointer as number 31.
pub type Registers = Values<32>;

/// The address in `word`, which may be signed.
#[inline(always)]
pub(super) fn address(word: usize) -> usize {
    // `-XX:UseBranchProtection=standard` signs return addresses: the signature is in bits that no address of a program has.
    const ADDRESS: usize = (1 << 48) - 1;
    word & ADDRESS
}

/// HotSpot's names for registers (`assembler_aarch64.hpp`).
impl Register {
    pub(super) const C_RARG0: Register = Register::new(0);
    pub(super) const R3: Register = Register::new(3);
    pub(super) const RMETHOD: Register = Register::new(12);
    pub(super) const R19_SENDER_SP: Register = Register::new(19);
    pub(super) const RBCP: Register = Register::new(22);
    pub(super) const RTHREAD: Register = Register::new(28);
    pub(super) const RFP: Register = Register::new(29);
    pub(super) const LR: Register = Register::new(30);
    pub(super) const STACK_POINTER: Register = Register::new(31);
}

/// The registers of a signal's context: the general ones, the stack pointer and the program counter.
pub(super) const NAMES: &[&str] = &[
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp", "pc",
];
