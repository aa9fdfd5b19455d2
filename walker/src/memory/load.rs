//! The instructions that may fault.

use std::arch::global_asm;
use std::ops::Range;

// Each function puts the value into rax and 1 into rdx. If the load faults, the handler continues
// at `asgst_no_load`, which puts 0 into both. So the stack pointer must be as at the entry.
global_asm!(
    ".pushsection .text.asgst_loads,\"ax\",@progbits",
    ".p2align 4",
    ".hidden asgst_loads",
    ".globl asgst_loads",
    "asgst_loads:",
    ".hidden asgst_load_8",
    ".globl asgst_load_8",
    "asgst_load_8:",
    "mov edx, 1",
    "movzx eax, byte ptr [rdi]",
    "ret",
    ".p2align 4",
    ".hidden asgst_load_16",
    ".globl asgst_load_16",
    "asgst_load_16:",
    "mov edx, 1",
    "movzx eax, word ptr [rdi]",
    "ret",
    ".p2align 4",
    ".hidden asgst_load_32",
    ".globl asgst_load_32",
    "asgst_load_32:",
    "mov edx, 1",
    "mov eax, dword ptr [rdi]",
    "ret",
    ".p2align 4",
    ".hidden asgst_load_64",
    ".globl asgst_load_64",
    "asgst_load_64:",
    "mov edx, 1",
    "mov rax, qword ptr [rdi]",
    "ret",
    ".hidden asgst_no_load",
    ".globl asgst_no_load",
    "asgst_no_load:",
    "xor eax, eax",
    "xor edx, edx",
    "ret",
    ".popsection",
);

/// The result of a load in rax and rdx.
#[repr(C)]
struct Loaded {
    value: u64,
    is_there: u64,
}

unsafe extern "C" {
    fn asgst_loads();
    fn asgst_load_8(address: usize) -> Loaded;
    fn asgst_load_16(address: usize) -> Loaded;
    fn asgst_load_32(address: usize) -> Loaded;
    fn asgst_load_64(address: usize) -> Loaded;
    fn asgst_no_load();
}

/// The code that may fault, and the address to continue at after a fault.
pub fn code() -> (Range<usize>, usize) {
    let end = asgst_no_load as *const () as usize;
    (asgst_loads as *const () as usize..end, end)
}

impl Loaded {
    fn get(self) -> Option<u64> {
        (self.is_there == 1).then_some(self.value)
    }
}

/// The byte at `address`.
#[inline]
pub fn byte(address: usize) -> Option<u8> {
    // SAFETY: it reads only, and a fault of it is taken back (`fault`). So for those below.
    Some(unsafe { asgst_load_8(address) }.get()? as u8)
}

/// The two bytes at `address`.
#[inline]
pub fn half(address: usize) -> Option<u16> {
    // SAFETY: as in `byte`.
    Some(unsafe { asgst_load_16(address) }.get()? as u16)
}

/// The four bytes at `address`.
#[inline]
pub fn int(address: usize) -> Option<u32> {
    // SAFETY: as in `byte`.
    Some(unsafe { asgst_load_32(address) }.get()? as u32)
}

/// The eight bytes at `address`.
#[inline]
pub fn word(address: usize) -> Option<usize> {
    // SAFETY: as in `byte`.
    Some(unsafe { asgst_load_64(address) }.get()? as usize)
}
