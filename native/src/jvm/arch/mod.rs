//! The parts that differ between processors: the registers in a signal's context, and the access to
//! a thread-local word. Each architecture has a file with the same functions.

#[cfg(target_arch = "x86_64")]
pub mod copy_x86_64;
#[cfg(target_arch = "x86_64")]
mod crossing_x86_64;
#[cfg(target_arch = "x86_64")]
mod guard_x86_64;
mod thunk_table;
#[cfg(target_arch = "x86_64")]
mod thunks_x86_64;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use crossing_x86_64::{CROSSINGS, crossing_left, enter_crossing, leave_crossing, system_call};
#[cfg(target_arch = "x86_64")]
pub use guard_x86_64::{leave_guarded, run_guarded};
#[cfg(target_arch = "x86_64")]
pub use thunks_x86_64::thunks;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    MAIN_REGISTERS, REGISTERS, TRAP_FLAG, breakpoint, breakpoint_argument, counter, entered_method,
    has_trap_flag, has_trap_flag_set, register, registers, set_trap_flag, thread_word, throwing,
};

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub use aarch64::{
    CROSSINGS, MAIN_REGISTERS, REGISTERS, TRAP_FLAG, breakpoint, breakpoint_argument, counter,
    crossing_left, enter_crossing, entered_method, has_trap_flag, has_trap_flag_set,
    leave_crossing, leave_guarded, register, registers, run_guarded, set_trap_flag, system_call,
    thread_word, throwing, thunks,
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
