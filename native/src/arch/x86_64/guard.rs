//! Runs a function so that a fault in the function can lead back to its caller.

use std::arch::global_asm;
use std::ffi::c_void;

// The registers that a function keeps for its caller (System V ABI for x86-64, 3.2.1) lie on the stack, and
// the stack pointer in memory.
global_asm!(
    ".pushsection .data.stackwitness_guard,\"aw\",@progbits",
    ".p2align 3",
    "stackwitness_guard_stack: .quad 0",
    ".popsection",
    ".pushsection .text.stackwitness_guard,\"ax\",@progbits",
    ".p2align 4",
    ".globl stackwitness_run_guarded",
    ".hidden stackwitness_run_guarded",
    "stackwitness_run_guarded:",
    "pushq %rbx",
    "pushq %rbp",
    "pushq %r12",
    "pushq %r13",
    "pushq %r14",
    "pushq %r15",
    "subq $8, %rsp",
    "movq %rsp, stackwitness_guard_stack(%rip)",
    "movq %rdi, %rax",
    "movq %rsi, %rdi",
    "callq *%rax",
    "movl $1, %eax",
    "jmp 1f",
    ".globl stackwitness_left_guarded",
    ".hidden stackwitness_left_guarded",
    "stackwitness_left_guarded:",
    "movq stackwitness_guard_stack(%rip), %rsp",
    "cld",
    "xorl %eax, %eax",
    "1:",
    "addq $8, %rsp",
    "popq %r15",
    "popq %r14",
    "popq %r13",
    "popq %r12",
    "popq %rbp",
    "popq %rbx",
    "ret",
    ".popsection",
    options(att_syntax),
);

unsafe extern "C" {
    fn stackwitness_run_guarded(
        function: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    ) -> bool;
    fn stackwitness_left_guarded();
}

/// Calls `function` with `argument`. False if [`leave_guarded`] has ended the function.
///
/// # Safety
/// Only one thread at a time may be in this function. What the function leaves behind when it is ended must be
/// sound.
pub unsafe fn run_guarded(function: extern "C" fn(*mut c_void), argument: *mut c_void) -> bool {
    // SAFETY: as the caller promised.
    unsafe { stackwitness_run_guarded(function, argument) }
}

/// The thread of `context`, which is in [`run_guarded`], goes on behind the function.
pub fn leave_guarded(context: &mut libc::ucontext_t) {
    let left = stackwitness_left_guarded as *const () as i64;
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = left;
}
