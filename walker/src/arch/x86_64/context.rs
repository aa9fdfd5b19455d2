//! The context of a signal.

use hotspot::arch::NativeRegisters;
use std::ffi::c_void;

/// The registers, in the order of their numbers in the instruction set.
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

/// Returns the program counter and the registers in `ucontext`.
///
/// # Safety
/// `ucontext` must be a context that a signal handler was given.
pub unsafe fn registers(ucontext: *const c_void) -> (usize, NativeRegisters) {
    // SAFETY: as the caller promised.
    let values = unsafe { &(*ucontext.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let value = |register: i32| values[register as usize] as usize;
    let registers = NativeRegisters::all(REGISTERS.map(value));
    (value(libc::REG_RIP), registers)
}
