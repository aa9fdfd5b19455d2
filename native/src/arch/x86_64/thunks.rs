//! Thunks before native methods, on x86-64.

use crate::arch::{THUNKS, ThunkTable};
use hotspot::arch::NotKnown;
use std::arch::global_asm;
use std::sync::atomic::AtomicUsize;

/// The distance between two thunks.
const SIZE: usize = 16;

// A thunk puts its number into r11, which carries no argument. The common part saves the registers
// of arguments (System V ABI for x86-64, 3.2.3), calls the agent with the first argument, the JNI
// environment, and the number, restores the registers, and jumps to the thunk's target. So the target
// finds all arguments in their places, those on the stack included, and returns to the caller of the thunk.
global_asm!(
    ".pushsection .bss.stackwitness_thunks,\"aw\",@nobits",
    ".p2align 3",
    ".globl stackwitness_thunk_targets",
    ".hidden stackwitness_thunk_targets",
    "stackwitness_thunk_targets: .zero 8 * {thunks}",
    ".globl stackwitness_thunk_listener",
    ".hidden stackwitness_thunk_listener",
    "stackwitness_thunk_listener: .zero 8",
    ".popsection",
    ".pushsection .text.stackwitness_thunks,\"ax\",@progbits",
    ".p2align 4",
    "stackwitness_thunk:",
    ".cfi_startproc",
    "pushq %rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset %rbp, -16",
    "movq %rsp, %rbp",
    ".cfi_def_cfa_register %rbp",
    "subq $128, %rsp",
    "movq %rdi, 0(%rsp)",
    "movq %rsi, 8(%rsp)",
    "movq %rdx, 16(%rsp)",
    "movq %rcx, 24(%rsp)",
    "movq %r8, 32(%rsp)",
    "movq %r9, 40(%rsp)",
    "movq %r11, 48(%rsp)",
    "movsd %xmm0, 56(%rsp)",
    "movsd %xmm1, 64(%rsp)",
    "movsd %xmm2, 72(%rsp)",
    "movsd %xmm3, 80(%rsp)",
    "movsd %xmm4, 88(%rsp)",
    "movsd %xmm5, 96(%rsp)",
    "movsd %xmm6, 104(%rsp)",
    "movsd %xmm7, 112(%rsp)",
    "movq %r11, %rsi",
    "movq stackwitness_thunk_listener(%rip), %rax",
    "call *%rax",
    "movq 0(%rsp), %rdi",
    "movq 8(%rsp), %rsi",
    "movq 16(%rsp), %rdx",
    "movq 24(%rsp), %rcx",
    "movq 32(%rsp), %r8",
    "movq 40(%rsp), %r9",
    "movq 48(%rsp), %r11",
    "movsd 56(%rsp), %xmm0",
    "movsd 64(%rsp), %xmm1",
    "movsd 72(%rsp), %xmm2",
    "movsd 80(%rsp), %xmm3",
    "movsd 88(%rsp), %xmm4",
    "movsd 96(%rsp), %xmm5",
    "movsd 104(%rsp), %xmm6",
    "movsd 112(%rsp), %xmm7",
    "leave",
    ".cfi_def_cfa %rsp, 8",
    "leaq stackwitness_thunk_targets(%rip), %rax",
    "jmpq *(%rax,%r11,8)",
    ".cfi_endproc",
    ".p2align 4",
    ".globl stackwitness_thunks",
    ".hidden stackwitness_thunks",
    "stackwitness_thunks:",
    ".set stackwitness_thunk_number, 0",
    ".rept {thunks}",
    ".p2align 4",
    "movl $stackwitness_thunk_number, %r11d",
    "jmp stackwitness_thunk",
    ".set stackwitness_thunk_number, stackwitness_thunk_number + 1",
    ".endr",
    ".popsection",
    thunks = const THUNKS,
    options(att_syntax),
);

unsafe extern "C" {
    static stackwitness_thunks: u8;
    static stackwitness_thunk_targets: [AtomicUsize; THUNKS];
    static stackwitness_thunk_listener: AtomicUsize;
}

/// The thunks.
pub fn thunks() -> Result<ThunkTable, NotKnown> {
    // SAFETY: defined above, with this size and alignment; the code is only pointed at.
    unsafe {
        Ok(ThunkTable {
            code: (&raw const stackwitness_thunks) as usize,
            size: SIZE,
            targets: &stackwitness_thunk_targets,
            listener: &stackwitness_thunk_listener,
        })
    }
}
