//! System calls of a thread that run at another address, and trap behind.

use std::arch::global_asm;

/// How many threads may be in the kernel in this way at the same time.
pub const CROSSINGS: usize = 32;

/// System calls beside `clone` that come back twice.
pub const FORKS: &[libc::c_long] = &[libc::SYS_fork, libc::SYS_vfork];

/// The bytes of a crossing: `syscall`, `int3`, and one of padding.
const SIZE: usize = 4;

/// Where the trap's program counter is, from the start of a crossing.
const BEHIND: usize = 3;

/// The length of the instruction `syscall` in bytes.
const SYSCALL: usize = 2;

global_asm!(
    ".pushsection .text.stackwitness_crossings,\"ax\",@progbits",
    ".p2align 4",
    ".globl stackwitness_crossings",
    ".hidden stackwitness_crossings",
    "stackwitness_crossings:",
    ".rept {crossings}",
    "syscall",
    "int3",
    "nop",
    ".endr",
    ".popsection",
    crossings = const CROSSINGS,
);

unsafe extern "C" {
    fn stackwitness_crossings();
}

fn start() -> usize {
    stackwitness_crossings as *const () as usize
}

/// The interrupted code is about to enter the kernel: it does so in this crossing. Returns where it would have
/// gone on.
pub fn enter_crossing(context: &mut libc::ucontext_t, crossing: usize) -> usize {
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    let behind = *pc as usize + SYSCALL;
    *pc = (start() + crossing % CROSSINGS * SIZE) as i64;
    behind
}

/// The crossing in which the interrupted code has come back from the kernel, and trapped.
pub fn crossing_left(context: &libc::ucontext_t) -> Option<usize> {
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    let distance = pc.checked_sub(start() + BEHIND)?;
    (distance % SIZE == 0 && distance / SIZE < CROSSINGS).then_some(distance / SIZE)
}

/// The interrupted code goes on at `pc`, as if it had entered the kernel just before: the kernel leaves this address in
/// `rcx`.
pub fn leave_crossing(context: &mut libc::ucontext_t, pc: usize) {
    for register in [libc::REG_RIP, libc::REG_RCX] {
        context.uc_mcontext.gregs[register as usize] = pc as i64;
    }
}

/// The number of the system call that the interrupted code is about to make, and its first two arguments.
pub fn system_call(context: &libc::ucontext_t) -> [usize; 3] {
    [libc::REG_RAX, libc::REG_RDI, libc::REG_RSI]
        .map(|register| context.uc_mcontext.gregs[register as usize] as usize)
}
