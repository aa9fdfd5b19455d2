//! Linux on aarch64.

use super::thunk_table::ThunkTable;
use hotspot::arch::Registers;
use std::arch::asm;
use std::ffi::c_void;

/// The link register's number.
const LINK: usize = 30;

/// The frame pointer's number (Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1).
const FRAME_POINTER: usize = 29;

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

/// Calls `function` with `argument`, without a guard: no thread steps on this processor.
///
/// # Safety
/// None is needed.
pub unsafe fn run_guarded(function: extern "C" fn(*mut c_void), argument: *mut c_void) -> bool {
    function(argument);
    true
}

/// No thread is in a guarded function.
pub fn leave_guarded(_: &mut libc::ucontext_t) {}

/// There are no thunks before native methods.
pub fn thunks() -> Option<ThunkTable> {
    None
}

/// There is no trap flag that a signal handler can set.
pub const TRAP_FLAG: usize = 0;

/// Whether the processor has a trap flag that a signal handler can set.
pub fn has_trap_flag() -> bool {
    false
}

/// There is no trap flag.
pub fn set_trap_flag(_: &mut libc::ucontext_t, _: bool) {}

/// There is no trap flag.
pub fn has_trap_flag_set(_: &libc::ucontext_t) -> bool {
    false
}

/// No thread steps, so none crosses to the kernel.
pub const CROSSINGS: usize = 1;

/// No thread is in a crossing.
pub fn enter_crossing(context: &mut libc::ucontext_t, _: usize) -> usize {
    registers(context).pc
}

/// No thread is in a crossing.
pub fn crossing_left(_: &libc::ucontext_t) -> Option<usize> {
    None
}

/// No thread is in a crossing.
pub fn leave_crossing(_: &mut libc::ucontext_t, _: usize) {}

/// Not known.
pub fn system_call(_: &libc::ucontext_t) -> [usize; 3] {
    [0; 3]
}

/// Not known.
pub fn entered_method(_: &libc::ucontext_t) -> usize {
    0
}

/// Not known.
pub fn throwing(_: &libc::ucontext_t) -> usize {
    0
}

/// No trap is wanted.
pub fn breakpoint(_: usize) {}

/// No breakpoint instruction is ours.
pub fn breakpoint_argument(_: &libc::ucontext_t) -> Option<usize> {
    None
}
