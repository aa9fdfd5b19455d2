//! No thread crosses to the kernel: no thread steps on this architecture.

use super::context::registers;

/// No thread steps, so none crosses to the kernel.
pub const CROSSINGS: usize = 1;

/// Linux has no other system calls than `clone` that come back twice.
pub const FORKS: &[libc::c_long] = &[];

/// No thread is in a crossing.
pub fn enter_crossing(context: &mut libc::ucontext_t, _: usize) -> usize {
    registers(context).pc
}

/// No thread is in a crossing.
pub fn crossing_left(_: &libc::ucontext_t) -> Option<usize> {
    None
}

/// No thread is in a crossing.
pub fn leave_crossing(_: &mut libc::ucontext_t, _: usize) {}

/// Nobody asks: no thread steps.
pub fn system_call(_: &libc::ucontext_t) -> [usize; 3] {
    [0; 3]
}
