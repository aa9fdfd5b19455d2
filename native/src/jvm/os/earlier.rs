//! Handlers of signals that were there before ours.

use std::ffi::{c_int, c_void};
use std::{io, ptr};

/// The handler of `signal` that is there.
pub fn find(signal: c_int) -> io::Result<libc::sigaction> {
    // SAFETY: all zeros are a value of this type, and the call only writes it.
    unsafe {
        let mut found: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(signal, ptr::null(), &mut found) {
            0 => Ok(found),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Puts `handler` in the place of the handler `earlier` of `signal`, with that handler's mask and flags.
///
/// # Safety
/// `handler` must be an async-signal-safe function with the three arguments of handlers.
pub unsafe fn replace(signal: c_int, earlier: &libc::sigaction, handler: usize) -> io::Result<()> {
    let mut action = *earlier;
    action.sa_sigaction = handler;
    action.sa_flags |= libc::SA_SIGINFO;
    // SAFETY: `action` is fully set, and its function is as the caller promised.
    match unsafe { libc::sigaction(signal, &action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

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
