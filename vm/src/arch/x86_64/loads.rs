//! The instructions that may fault.
//!
//! Each load is one instruction in the middle of the code that needs its value. A table of the library has, for each
//! of them, its address and that of the code behind which the load has no value. So a load costs no call.

use std::arch::{asm, global_asm, x86_64::__m128i};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

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

// The table exists in a library without a load, too. A library exports the ends of a section unless they are hidden.
global_asm!(
    ".pushsection asgst_loads,\"aR\",@progbits",
    ".popsection",
    ".hidden __start_asgst_loads",
    ".hidden __stop_asgst_loads",
);

/// A row of the table. Both are distances from their own places.
#[repr(C)]
struct Row {
    load: i32,
    no_load: i32,
}

unsafe extern "C" {
    #[link_name = "__start_asgst_loads"]
    static START: Row;
    #[link_name = "__stop_asgst_loads"]
    static STOP: Row;
}

fn table() -> &'static [Row] {
    let (start, stop) = (&raw const START, &raw const STOP);
    let count = (stop as usize - start as usize) / size_of::<Row>();
    // SAFETY: the linker puts the rows of all loads between the two.
    unsafe { std::slice::from_raw_parts(start, count) }
}

/// What `distance` leads to.
fn target(distance: &i32) -> usize {
    (std::ptr::from_ref(distance) as usize).wrapping_add_signed(*distance as isize)
}

/// From the first load to the last.
static LOADS: OnceLock<RangeInclusive<usize>> = OnceLock::new();

/// Finds the loads. To be called before [`resumption`].
pub fn prepare() {
    LOADS.get_or_init(|| {
        let loads = || table().iter().map(|row| target(&row.load));
        loads().min().unwrap_or(1)..=loads().max().unwrap_or(0)
    });
}

/// Returns where the thread goes on if the instruction at `pc` has faulted; `None` if this is no load of this library.
/// Async-signal-safe.
pub fn resumption(pc: usize) -> Option<usize> {
    // Nearly all faults are those of the JVM's own code.
    if !LOADS.get()?.contains(&pc) {
        return None;
    }
    let row = table().iter().find(|row| target(&row.load) == pc)?;
    Some(target(&row.no_load))
}
