//! The table of the loads that may fault, which each load of the architectures adds a row to.

use std::arch::global_asm;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

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
