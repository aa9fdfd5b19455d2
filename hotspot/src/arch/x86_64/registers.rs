//! The general registers.

use crate::arch::{Register, Values};

/// The values of the general registers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
pub type Registers = Values<16>;

/// By their numbers in the instruction set (Intel SDM, volume 2, table 3-1).
impl Register {
    pub(super) const RAX: Register = Register::new(0);
    pub(super) const RCX: Register = Register::new(1);
    pub(super) const RDX: Register = Register::new(2);
    pub(super) const RBX: Register = Register::new(3);
    pub(super) const RSP: Register = Register::new(4);
    pub(super) const RBP: Register = Register::new(5);
    pub(super) const RDI: Register = Register::new(7);
    pub(super) const R13: Register = Register::new(13);
    pub(super) const R15: Register = Register::new(15);
}

/// The registers of a signal's context, from `REG_R8` to `REG_RIP` (`sys/ucontext.h`).
pub(super) const NAMES: &[&str] = &[
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax",
    "rcx", "rsp", "rip",
];
