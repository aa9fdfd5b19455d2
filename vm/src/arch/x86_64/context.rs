//! The registers of a signal's context.

use crate::arch::resumption;
use hotspot::arch::NativeRegisters;

/// The registers, in the order of their numbers in the instruction set (Intel SDM, volume 2, table 3-1).
const REGISTERS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// The program counter and the general registers of the interrupted code.
pub fn registers(context: &libc::ucontext_t) -> (usize, NativeRegisters) {
    let value = |register: i32| context.uc_mcontext.gregs[register as usize] as usize;
    (
        value(libc::REG_RIP),
        NativeRegisters::all(REGISTERS.map(value)),
    )
}

/// Lets the interrupted thread go on behind a load of this library that has faulted. Returns whether it was one.
/// Async-signal-safe.
pub fn resume(context: &mut libc::ucontext_t) -> bool {
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    let resumption = resumption(*pc as usize);
    if let Some(resumption) = resumption {
        *pc = resumption as i64;
    }
    resumption.is_some()
}
