//! One word of thread-local storage that a signal handler may read.
//!
//! Rust's `thread_local!` in a cdylib goes through `__tls_get_addr`, whose first touch on
//! a thread older than the library calls `malloc`. A word in the initial-exec model lies
//! at a fixed offset from the thread pointer and needs no call at all (Drepper, "ELF
//! Handling For Thread-Local Storage", 4.4.2).

use crate::arch::thread_word as word;

/// Reads the calling thread's word. Async-signal-safe.
#[inline(always)]
pub fn get() -> usize {
    // SAFETY: the word belongs to this thread and lives as long as it; volatile, because a
    // signal handler of this thread reads what the thread wrote.
    unsafe { word().read_volatile() }
}

/// Writes the calling thread's word. Async-signal-safe.
#[inline(always)]
pub fn set(value: usize) {
    // SAFETY: as in `get`.
    unsafe { word().write_volatile(value) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_thread_has_its_own_word() {
        super::set(7);
        let other = std::thread::spawn(|| {
            let before = super::get();
            super::set(9);
            (before, super::get())
        });
        assert_eq!(other.join().expect("it does not panic"), (0, 9));
        assert_eq!(super::get(), 7);
    }
}
