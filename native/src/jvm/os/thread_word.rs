//! One word of thread-local storage that a signal handler may read.
//!
//! Rust's `thread_local!` in a cdylib goes through `__tls_get_addr`, whose first touch on
//! a thread older than the library calls `malloc`. A word in the initial-exec model lies
//! at a fixed offset from the thread pointer and needs no call at all (Drepper, "ELF
//! Handling For Thread-Local Storage", 4.4.2).

use std::arch::{asm, global_asm};

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("the agent's thread-local word is written for Linux on x86-64 and aarch64 only");

global_asm!(
    ".pushsection .tbss.stackwitness_word,\"awT\",@nobits",
    ".p2align 3",
    ".globl stackwitness_word",
    ".hidden stackwitness_word",
    ".type stackwitness_word,@object",
    ".size stackwitness_word,8",
    "stackwitness_word: .zero 8",
    ".popsection",
);

/// The address of the calling thread's word; zero at the thread's start.
#[inline(always)]
fn word() -> *mut usize {
    let address: *mut usize;
    // SAFETY: reads the thread pointer and the word's fixed offset from it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + stackwitness_word@gottpoff]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
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

/// Reads the calling thread's word. Async-signal-safe.
#[inline(always)]
pub fn get() -> usize {
    // SAFETY: the word belongs to this thread and lives as long as it; volatile, because a
    // signal handler of this thread reads what the thread wrote.
    unsafe { word().read_volatile() }
}

/// Writes the calling thread's word. Async-signal-safe.
#[inline(always)]
pub fn set(value: usize) {
    // SAFETY: as in `get`.
    unsafe { word().write_volatile(value) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_thread_has_its_own_word() {
        super::set(7);
        let other = std::thread::spawn(|| {
            let before = super::get();
            super::set(9);
            (before, super::get())
        });
        assert_eq!(other.join().expect("it does not panic"), (0, 9));
        assert_eq!(super::get(), 7);
    }
}
