//! The calling thread, as the kernel and the C library know it, and the one word that it has of its own.

use crate::arch::thread_word;
use std::ops::Range;
use std::ptr;

/// The kernel's id of the calling thread.
pub fn id() -> i32 {
    // SAFETY: no preconditions.
    unsafe { libc::gettid() }
}

/// Whether this process has a thread with this id of the kernel.
pub fn is_alive(tid: i32) -> bool {
    // SAFETY: signal 0 is none: it is only asked for (tgkill(2)).
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) == 0 }
}

/// The bounds of a thread's stack. Only the thread itself can make this value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackBounds(Range<usize>);

impl StackBounds {
    /// The bounds of the calling thread's stack; empty if the C library does not know them.
    pub fn of_this_thread() -> StackBounds {
        // SAFETY: the attributes are initialised by the call and destroyed after their use.
        unsafe {
            let mut attributes = std::mem::zeroed();
            if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
                return StackBounds(0..0);
            }
            let (mut start, mut size) = (ptr::null_mut(), 0);
            let found = libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            match found {
                0 => StackBounds(start as usize..start as usize + size),
                _ => StackBounds(0..0),
            }
        }
    }

    /// The bounds of no stack.
    pub const fn none() -> StackBounds {
        StackBounds(0..0)
    }

    /// Bounds from a range that [`StackBounds::range`] returned.
    ///
    /// # Safety
    /// The range must be that of a thread's own [`StackBounds`], or empty.
    pub unsafe fn from_range(range: Range<usize>) -> StackBounds {
        StackBounds(range)
    }

    /// The addresses.
    pub fn range(&self) -> &Range<usize> {
        &self.0
    }

    /// The size in bytes; a usual size if the bounds are not known.
    pub fn size(&self) -> usize {
        const USUAL: usize = 8 << 20;
        match self.0.len() {
            0 => USUAL,
            known => known,
        }
    }
}

/// Reads the calling thread's word of thread-local storage. Async-signal-safe.
///
/// Rust's `thread_local!` in a cdylib goes through `__tls_get_addr`, whose first touch on
/// a thread older than the library calls `malloc`. A word in the initial-exec model lies
/// at a fixed offset from the thread pointer and needs no call at all (Drepper, "ELF
/// Handling For Thread-Local Storage", 4.4.2).
#[inline(always)]
pub fn word() -> usize {
    // SAFETY: the word belongs to this thread and lives as long as it; volatile, because a
    // signal handler of this thread reads what the thread wrote.
    unsafe { thread_word().read_volatile() }
}

/// Writes that word. Async-signal-safe.
#[inline(always)]
pub fn set_word(value: usize) {
    // SAFETY: as in `word`.
    unsafe { thread_word().write_volatile(value) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_thread_has_its_own_word() {
        super::set_word(7);
        let other = std::thread::spawn(|| {
            let before = super::word();
            super::set_word(9);
            (before, super::word())
        });
        assert_eq!(other.join().expect("it does not panic"), (0, 9));
        assert_eq!(super::word(), 7);
    }
}
