//! Memory: reserved at once and taken where it is used; free memory that the C library keeps, and returns in time; words in a
//! file that other processes may read too.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

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

/// The time between two returns of memory.
const PAUSE: Duration = Duration::from_secs(20);

/// Returns free pages of the C library's heaps to the system, now and then.
///
/// A compiler's memory for one large method stays in the heap of the compiler's thread otherwise, and
/// hooks make methods larger. HotSpot does the same with `-XX:TrimNativeHeapInterval`.
#[derive(Debug)]
pub struct FreePages {
    returned: Instant,
}

impl FreePages {
    /// Returns nothing yet.
    pub fn new() -> FreePages {
        FreePages {
            returned: Instant::now(),
        }
    }

    /// Returns free pages if the time has come. This takes some milliseconds, and the lock of one heap
    /// after the other.
    pub fn return_in_time(&mut self) {
        if self.returned.elapsed() < PAUSE {
            return;
        }
        self.returned = Instant::now();
        // SAFETY: any thread may call it at any time outside of signal handlers (malloc_trim(3):
        // MT-Safe).
        #[cfg(target_env = "gnu")]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

/// Maps the file at `path`, which is made or enlarged as needed. The file stays mapped, and its
/// contents survive the process.
pub fn map_shared<const N: usize>(path: &Path) -> io::Result<&'static [AtomicU64; N]> {
    let size = size_of::<[AtomicU64; N]>();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.set_len(size as u64)?;
    // SAFETY: a new mapping touches no existing memory; the file stays mapped for good.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: page-aligned, large enough, never unmapped; atomics take any bytes.
    Ok(unsafe { &*memory.cast() })
}
