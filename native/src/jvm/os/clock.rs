//! Clocks of the kernel.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// CPU time of the calling thread so far. The system call takes some 0.2 µs.
pub fn thread_cpu_time() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// `CLOCK_MONOTONIC`. Unlike an `Instant`, the time can be compared with times of other processes.
pub fn monotonic() -> Duration {
    read(libc::CLOCK_MONOTONIC)
}

/// The calling thread waits for so long, less than a second, or until a signal comes. Async-signal-safe.
pub fn pause(length: Duration) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: length.subsec_nanos().into(),
    };
    // SAFETY: the kernel reads `time` only (`clock_nanosleep(2)`).
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &time, std::ptr::null_mut()) };
}

/// A clock that every Linux has.
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes to `time` only (`clock_gettime(2)`).
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    match status {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// Nanoseconds since the first call, at least 1.
pub fn since_start() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}
