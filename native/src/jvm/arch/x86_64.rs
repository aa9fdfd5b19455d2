//! Linux on x86-64.

use hotspot::arch::Registers;
use std::arch::asm;
use std::ffi::c_int;

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
