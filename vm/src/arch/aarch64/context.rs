//! The registers of a signal's context.

use crate::arch::resumption;
use hotspot::arch::NativeRegisters;

/// The program counter and the general registers of the interrupted code.
pub fn registers(context: &libc::ucontext_t) -> (usize, NativeRegisters) {
    let context = &context.uc_mcontext;
    // x0 to x30, and the stack pointer as number 31.
    let value = |number: usize| context.regs.get(number).unwrap_or(&context.sp);
    let registers = NativeRegisters::all(std::array::from_fn(|number| *value(number) as usize));
    (context.pc as usize, registers)
}

/// Lets the interrupted thread go on behind a load of this library that has faulted. Returns whether it was one.
/// Async-signal-safe.
pub fn resume(context: &mut libc::ucontext_t) -> bool {
    let pc = &mut context.uc_mcontext.pc;
    let resumption = resumption(*pc as usize);
    if let Some(resumption) = resumption {
        *pc = resumption as u64;
    }
    resumption.is_some()
}
