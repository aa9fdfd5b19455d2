//! Memory that the C library keeps although it is free.

use std::time::{Duration, Instant};

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
