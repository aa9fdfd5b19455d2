//! What wakes the helper.

use std::mem::MaybeUninit;

/// A semaphore, which a signal handler may ring.
pub struct Bell(Box<MaybeUninit<libc::sem_t>>);

// SAFETY: semaphores are for several threads.
unsafe impl Sync for Bell {}
// SAFETY: the semaphore does not move.
unsafe impl Send for Bell {}

impl Default for Bell {
    /// A bell that nobody has rung.
    fn default() -> Bell {
        let mut semaphore = Box::new(MaybeUninit::uninit());
        // SAFETY: memory for a semaphore, which stays where it is.
        unsafe { libc::sem_init(semaphore.as_mut_ptr(), 0, 0) };
        Bell(semaphore)
    }
}

impl Bell {
    /// Rings. Async-signal-safe.
    pub fn ring(&self) {
        // SAFETY: the semaphore was made; `sem_post` may be called in a handler.
        unsafe { libc::sem_post(self.0.as_ptr().cast_mut()) };
    }

    /// Waits for a ring. Later rings that were heard meanwhile count as one.
    pub fn wait(&self) {
        let semaphore = self.0.as_ptr().cast_mut();
        // SAFETY: the semaphore was made.
        unsafe {
            while libc::sem_wait(semaphore) != 0 {}
            while libc::sem_trywait(semaphore) == 0 {}
        }
    }
}
