//! The context of a signal.

use hotspot::arch::NativeRegisters;
use std::ffi::c_void;

/// Returns the program counter and the registers in `ucontext`.
///
/// # Safety
/// `ucontext` must be a context that a signal handler was given.
pub unsafe fn registers(ucontext: *const c_void) -> (usize, NativeRegisters) {
    // SAFETY: as the caller promised.
    let context = unsafe { &(*ucontext.cast::<libc::ucontext_t>()).uc_mcontext };
    // x0 to x30, and the stack pointer as number 31.
    let value = |number: usize| context.regs.get(number).unwrap_or(&context.sp);
    let registers = NativeRegisters::all(std::array::from_fn(|number| *value(number) as usize));
    (context.pc as usize, registers)
}
