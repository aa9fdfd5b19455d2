//! The instructions that may fault.
//!
//! Each load is one instruction in the middle of the code that needs its value. A table of the library has, for each
//! of them, its address and that of the code behind which the load has no value. So a load costs no call.

use std::arch::asm;

// A load, a section with the code that a load continues at if it faults, and a row of the table. The fault leaves 0
// in the register, and 1 in no other. The linker must keep the table, which no code names (`R`).
macro_rules! load {
    ($load:literal) => {
        concat!(
            "mov {there:w}, #1\n",
            "2: ",
            $load,
            "\n3:\n",
            ".pushsection .text.asgst_no_load,\"ax\",@progbits\n",
            "4: mov {there:w}, #0\n",
            "b 3b\n",
            ".popsection\n",
            ".pushsection asgst_loads,\"aR\",@progbits\n",
            ".balign 4\n",
            ".word 2b - .\n",
            ".word 4b - .\n",
            ".popsection"
        )
    };
}

/// Defines a function that loads at an address; `None` if the load faults.
macro_rules! loads {
    ($($name:ident: $type:ty, $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(address: usize) -> Option<$type> {
            let value: $type;
            let there: u32;
            // SAFETY: it reads only, and a fault of it is taken back (`fault`): the code goes on without a value.
            unsafe {
                asm!(
                    load!($instruction),
                    address = in(reg) address,
                    value = out(reg) value,
                    there = out(reg) there,
                    options(nostack, readonly),
                );
            }
            (there == 1).then_some(value)
        }
    )*};
}

loads! {
    byte: u32, "ldrb {value:w}, [{address}]";
    half: u32, "ldrh {value:w}, [{address}]";
    int: u32, "ldr {value:w}, [{address}]";
    word: usize, "ldr {value}, [{address}]";
}

/// Loads sixteen bytes; `None` if the load faults.
#[inline(always)]
pub fn bytes(address: usize) -> Option<[u8; 16]> {
    let (low, high): (u64, u64);
    let there: u32;
    // SAFETY: as for the loads above.
    unsafe {
        asm!(
            load!("ldp {low}, {high}, [{address}]"),
            address = in(reg) address,
            low = out(reg) low,
            high = out(reg) high,
            there = out(reg) there,
            options(nostack, readonly),
        );
    }
    let value = u128::from(high) << 64 | u128::from(low);
    (there == 1).then(|| value.to_le_bytes())
}
