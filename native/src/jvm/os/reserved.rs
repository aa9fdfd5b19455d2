//! Memory that is reserved at once, and takes real memory only where it is used.

use std::io;
use std::ptr::{self, NonNull};

/// Zeroed memory for values of `T`.
#[derive(Debug)]
pub struct Reserved<T> {
    start: NonNull<T>,
    bytes: usize,
}

impl<T> Reserved<T> {
    /// Reserves memory for `count` values, which must be valid when all zero.
    pub fn new(count: usize) -> io::Result<Reserved<T>> {
        let bytes = count
            .checked_mul(size_of::<T>())
            .ok_or(io::ErrorKind::InvalidInput)?
            .max(1);
        // SAFETY: a new anonymous mapping touches no existing memory.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // One value must not take a huge page. A kernel without huge pages refuses the call, which
        // does no harm. SAFETY: the mapping was just made.
        unsafe { libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE) };
        let start = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Reserved { start, bytes })
    }

    /// The address of the first value.
    #[inline(always)]
    pub fn start(&self) -> NonNull<T> {
        self.start
    }
}

impl<T> Drop for Reserved<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and owned.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

// SAFETY: it owns its memory, like a `Box`.
unsafe impl<T: Send> Send for Reserved<T> {}
// SAFETY: a shared reference gives its address only.
unsafe impl<T: Sync> Sync for Reserved<T> {}
