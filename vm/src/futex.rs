//! Waiting for a word to change (`futex(2)`), between threads of this process.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Wakes one thread that waits for `word`. Async-signal-safe.
pub fn wake_one(word: &AtomicU32) {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: a system call on a word that lives during the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1) };
}

/// Sleeps while `word` has the value `seen`, until another thread wakes this thread, at most for
/// `patience`. The sleep may end earlier.
pub fn wait(word: &AtomicU32, seen: u32, patience: Duration) {
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let left = libc::timespec {
        tv_sec: patience.as_secs() as libc::time_t,
        tv_nsec: patience.subsec_nanos().into(),
    };
    // SAFETY: a system call on a word and a deadline that live during the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            op,
            seen,
            ptr::from_ref(&left),
        )
    };
}
