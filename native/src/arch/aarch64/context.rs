//! Linux on aarch64.

use hotspot::arch::{Arch, Native, NotKnown, Registers};
use std::arch::asm;

/// The link register's number.
const LINK: usize = 30;

/// The frame pointer's number (Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1).
const FRAME_POINTER: usize = 29;

/// The kernel may overwrite all below the stack pointer when it calls a handler.
pub const RED_ZONE: usize = 0;

/// The registers of the interrupted code.
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let context = &context.uc_mcontext;
    Registers {
        pc: context.pc as usize,
        sp: context.sp as usize,
        fp: context.regs[FRAME_POINTER] as usize,
        link: Some(context.regs[LINK] as usize),
    }
}

/// How many general registers a context has: x0 to x30, the stack pointer, the program counter.
pub const REGISTERS: usize = 33;

/// The program counter, the stack pointer and the frame pointer.
pub const MAIN_REGISTERS: [usize; 3] = [32, 31, FRAME_POINTER];

/// A general register. `number` must be below [`REGISTERS`].
pub fn register(context: &mut libc::ucontext_t, number: usize) -> &mut u64 {
    let context = &mut context.uc_mcontext;
    match number {
        32 => &mut context.pc,
        31 => &mut context.sp,
        number => &mut context.regs[number],
    }
}

/// The counter of the system's timer (Arm ARM, CNTVCT_EL0). Async-signal-safe.
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: Linux lets programs read the register.
    unsafe { asm!("mrs {count}, cntvct_el0", count = out(reg) count, options(nostack, nomem)) };
    count
}

/// The address of the calling thread's word, in the initial-exec model (ELF for the Arm 64-bit
/// Architecture, "Thread Local Storage").
#[inline(always)]
pub fn thread_word() -> *mut usize {
    let address: *mut usize;
    // SAFETY: reads the thread pointer and the word's fixed offset from it.
    unsafe {
        asm!(
            "mrs {base}, tpidr_el0",
            "adrp {address}, :gottprel:stackwitness_word",
            "ldr {address}, [{address}, :gottprel_lo12:stackwitness_word]",
            "add {address}, {address}, {base}",
            base = out(reg) _,
            address = out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    address
}

/// There is no trap flag that a signal handler can set.
pub const TRAP_FLAG: usize = 0;

/// A signal handler cannot let the interrupted code trap behind each instruction: the kernel keeps the flag for
/// debuggers. So no thread steps, and nobody asks the functions below.
pub fn traps() -> Result<(), NotKnown> {
    Err(NotKnown {
        what: "how a thread traps behind each instruction",
        on: Native::NAME,
    })
}

/// Nobody asks: no thread steps.
pub fn set_trap_flag(_: &mut libc::ucontext_t, _: bool) {}

/// Nobody asks: no thread steps.
pub fn has_trap_flag_set(_: &libc::ucontext_t) -> bool {
    false
}

/// Nobody asks: no thread steps.
pub fn entered_method(_: &libc::ucontext_t) -> usize {
    0
}

/// Nobody asks: no thread steps.
pub fn throwing(_: &libc::ucontext_t) -> usize {
    0
}

/// No trap is wanted.
pub fn breakpoint(_: usize) {}

/// No breakpoint instruction is ours.
pub fn breakpoint_argument(_: &libc::ucontext_t) -> Option<usize> {
    None
}
