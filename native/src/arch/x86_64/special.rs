//! Instructions that compilers rarely emit, for tests of copies.

use std::arch::asm;

/// Copies `from` to `to` by a string instruction, and saves and loads the flags.
pub fn run_special_instructions(from: &[u8; 256], to: &mut [u8; 256]) {
    let mut flags = 0_u64;
    // SAFETY: copies one array to another, and puts the flags back as they were.
    unsafe {
        asm!(
            "rep movsb",
            inout("rsi") from.as_ptr() => _,
            inout("rdi") to.as_mut_ptr() => _,
            inout("rcx") 256_usize => _,
        );
        asm!("stc", "pushfq", "pop {flags}", "push {flags}", "popfq", flags = inout(reg) flags);
    }
    assert_eq!(flags & 1, 1);
}
