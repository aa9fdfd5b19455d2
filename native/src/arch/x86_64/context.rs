//! Linux on x86-64.

use hotspot::arch::{NotKnown, Registers};
use std::arch::{asm, global_asm};
use std::ffi::c_int;

/// How many bytes below the stack pointer the kernel leaves alone when it calls a handler (System V ABI, 3.2.2).
pub const RED_ZONE: usize = 128;

/// The registers of the interrupted code.
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let at = |register: c_int| context.uc_mcontext.gregs[register as usize] as usize;
    Registers {
        pc: at(libc::REG_RIP),
        sp: at(libc::REG_RSP),
        fp: at(libc::REG_RBP),
        link: None,
    }
}

/// How many general registers a context has: those from r8 to rip (`sys/ucontext.h`).
pub const REGISTERS: usize = libc::REG_RIP as usize + 1;

/// The program counter, the stack pointer and the frame pointer.
pub const MAIN_REGISTERS: [usize; 3] = [
    libc::REG_RIP as usize,
    libc::REG_RSP as usize,
    libc::REG_RBP as usize,
];

/// A general register. `number` must be below [`REGISTERS`].
pub fn register(context: &mut libc::ucontext_t, number: usize) -> &mut u64 {
    let register = &mut context.uc_mcontext.gregs[number];
    // SAFETY: both types have the same size and alignment, and take any bits.
    unsafe { &mut *std::ptr::from_mut(register).cast() }
}

/// The address of the calling thread's word, in the initial-exec model (Drepper, "ELF Handling
/// For Thread-Local Storage", 4.3.6).
#[inline(always)]
pub fn thread_word() -> *mut usize {
    let address: *mut usize;
    // SAFETY: reads the thread pointer and the word's fixed offset from it.
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + stackwitness_word@gottpoff]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    address
}

/// The time-stamp counter, which HotSpot's fast clock reads too. Async-signal-safe.
pub fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The trap flag in the register of flags (Intel SDM, volume 3, 2.3).
pub const TRAP_FLAG: usize = 1 << 8;

/// Whether a signal handler can set a flag that lets the interrupted code trap behind each instruction.
pub fn traps() -> Result<(), NotKnown> {
    Ok(())
}

/// Sets or clears the trap flag of the interrupted code.
pub fn set_trap_flag(context: &mut libc::ucontext_t, is_set: bool) {
    let flags = &mut context.uc_mcontext.gregs[libc::REG_EFL as usize];
    *flags = if is_set {
        *flags | TRAP_FLAG as i64
    } else {
        *flags & !(TRAP_FLAG as i64)
    };
}

/// Whether the trap flag of the interrupted code is set.
pub fn has_trap_flag_set(context: &libc::ucontext_t) -> bool {
    context.uc_mcontext.gregs[libc::REG_EFL as usize] & TRAP_FLAG as i64 != 0
}

/// The register in which the interpreter has the method that it enters: `rbx`.
pub fn entered_method(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RBX as usize] as usize
}

/// The register in which code of C1 gives the address of its `athrow` to a stub: `rdx`.
pub fn throwing(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RDX as usize] as usize
}

// A function that runs a breakpoint instruction and returns.
global_asm!(
    ".pushsection .text.stackwitness_breakpoint,\"ax\",@progbits",
    ".globl stackwitness_breakpoint",
    ".hidden stackwitness_breakpoint",
    "stackwitness_breakpoint:",
    "int3",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    fn stackwitness_breakpoint(argument: usize);
}

/// Runs a breakpoint instruction.
pub fn breakpoint(argument: usize) {
    // SAFETY: the function changes nothing; the handler of the trap is installed.
    unsafe { stackwitness_breakpoint(argument) };
}

/// The argument of [`breakpoint`], if the breakpoint instruction was its own.
pub fn breakpoint_argument(context: &libc::ucontext_t) -> Option<usize> {
    let gregs = &context.uc_mcontext.gregs;
    let is_ours =
        gregs[libc::REG_RIP as usize] as usize == stackwitness_breakpoint as *const () as usize + 1;
    is_ours.then_some(gregs[libc::REG_RDI as usize] as usize)
}
