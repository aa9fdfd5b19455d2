//! The registers of a signal's context.

use hotspot::arch::NativeRegisters;

/// The program counter and the general registers of the interrupted code.
pub fn registers(context: &libc::ucontext_t) -> (usize, NativeRegisters) {
    let context = &context.uc_mcontext;
    // x0 to x30, and the stack pointer as number 31.
    let value = |number: usize| context.regs.get(number).unwrap_or(&context.sp);
    let registers = NativeRegisters::all(std::array::from_fn(|number| *value(number) as usize));
    (context.pc as usize, registers)
}

/// No load of this library is there to go on behind, and none has faulted.
pub fn resume(_: &mut libc::ucontext_t) -> bool {
    false
}
