//! No function is guarded: no thread steps on this architecture.

use std::ffi::c_void;

/// Calls `function` with `argument`, without a guard: no thread steps on this processor.
///
/// # Safety
/// None is needed.
pub unsafe fn run_guarded(function: extern "C" fn(*mut c_void), argument: *mut c_void) -> bool {
    function(argument);
    true
}

/// No thread is in a guarded function.
pub fn leave_guarded(_: &mut libc::ucontext_t) {}
