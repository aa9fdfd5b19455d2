//! Handlers of signals that were there before ours.

use std::ffi::{c_int, c_void};
use std::ptr;

/// The handler that was there before gets the signal.
///
/// # Safety
/// The arguments must be those of the signal's handler.
pub unsafe fn call_earlier(
    earlier: &libc::sigaction,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: `sa_sigaction` is a handler of the kind that the flags say, or one of the two constants.
    unsafe {
        match earlier.sa_sigaction {
            libc::SIG_IGN => {}
            libc::SIG_DFL => {
                // The process ends with this signal, as it would have without us.
                libc::sigaction(signal, earlier, ptr::null_mut());
                libc::raise(signal);
            }
            function if earlier.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                std::mem::transmute::<usize, Handler>(function)(signal, info, context);
            }
            function => std::mem::transmute::<usize, extern "C" fn(c_int)>(function)(signal),
        }
    }
}
