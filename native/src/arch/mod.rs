//! What differs between architectures: the registers of a signal's context, a thread-local word, traps behind
//! instructions, copies of instructions, thunks. The twin of [`hotspot::arch`], which knows the machine code.
//!
//! Each architecture has a folder with the same functions. The list here is the contract.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod thunk_table;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as current;
#[cfg(target_arch = "x86_64")]
use x86_64 as current;

#[cfg(test)]
pub use current::run_special_instructions;
pub use current::{
    CROSSINGS, Copies, FORKS, MAIN_REGISTERS, RED_ZONE, REGISTERS, TRAP_FLAG, breakpoint,
    breakpoint_argument, counter, crossing_left, enter_crossing, entered_method, has_trap_flag_set,
    leave_crossing, leave_guarded, register, registers, resume_behind_copy, run_guarded,
    set_trap_flag, system_call, thread_word, throwing, thunks, traps,
};
pub use thunk_table::{THUNKS, ThunkTable};

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("the agent is written for Linux on x86-64 and aarch64 only");

// The thread-local word itself, zero at each thread's start.
std::arch::global_asm!(
    ".pushsection .tbss.stackwitness_word,\"awT\",@nobits",
    ".p2align 3",
    ".globl stackwitness_word",
    ".hidden stackwitness_word",
    ".type stackwitness_word,@object",
    ".size stackwitness_word,8",
    "stackwitness_word: .zero 8",
    ".popsection",
);
