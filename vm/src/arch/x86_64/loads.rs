//! The instructions that may fault.
//!
//! Each load is one instruction in the middle of the code that needs its value. A table of the library has, for each
//! of them, its address and that of the code behind which the load has no value. So a load costs no call.

use std::arch::{asm, x86_64::__m128i};

// A load, a section with the code that a load continues at if it faults, and a row of the table. The fault leaves 0
// in both registers, and 1 in neither. The linker must keep the table, which no code names (`R`).
macro_rules! load {
    ($load:literal) => {
        concat!(
            "mov {there:e}, 1\n",
            "2: ",
            $load,
            "\n3:\n",
            ".pushsection .text.asgst_no_load,\"ax\",@progbits\n",
            "4: xor {there:e}, {there:e}\n",
            "jmp 3b\n",
            ".popsection\n",
            ".pushsection asgst_loads,\"aR\",@progbits\n",
            ".balign 4\n",
            ".long 2b - .\n",
            ".long 4b - .\n",
            ".popsection"
        )
    };
}

/// Defines a function that loads at an address; `None` if the load faults.
macro_rules! loads {
    ($($name:ident: $type:ty, $class:ident, $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(address: usize) -> Option<$type> {
            let value;
            let there: u32;
            // SAFETY: it reads only, and a fault of it is taken back (`fault`): the code goes on without a value.
            unsafe {
                asm!(
                    load!($instruction),
                    address = in(reg) address,
                    value = out($class) value,
                    there = out(reg) there,
                    options(nostack, readonly),
                );
            }
            (there == 1).then_some(value)
        }
    )*};
}

loads! {
    byte: u32, reg, "movzx {value:e}, byte ptr [{address}]";
    half: u32, reg, "movzx {value:e}, word ptr [{address}]";
    int: u32, reg, "mov {value:e}, dword ptr [{address}]";
    word: usize, reg, "mov {value}, qword ptr [{address}]";
    vector: __m128i, xmm_reg, "movdqu {value}, xmmword ptr [{address}]";
}

/// Loads sixteen bytes; `None` if the load faults.
#[inline(always)]
pub fn bytes(address: usize) -> Option<[u8; 16]> {
    // SAFETY: plain bytes, of the same size.
    vector(address).map(|read| unsafe { std::mem::transmute::<__m128i, [u8; 16]>(read) })
}
