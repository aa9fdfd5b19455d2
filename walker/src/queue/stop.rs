//! Stops a platform thread, whatever it runs.
//!
//! While a thread carries a virtual thread, SuspendThread of the carrier stops it only once the virtual thread has
//! left. So the virtual thread is suspended then. Either may change in between, so what is carried is asked again.

use crate::queue::jvmti::{Jvmti, NotSuspended};
use jni_sys::{JNIEnv, jobject};
use vm::jvmti::FrameInfo;

/// A virtual thread may come or leave each time, but hardly so often in succession.
const ATTEMPTS: u32 = 8;

/// A thread that is stopped until this is dropped.
pub struct Stopped {
    jvmti: Jvmti,
    env: *mut JNIEnv,
    /// What was suspended: the thread, or a local reference to the virtual thread that it carries.
    suspended: jobject,
    thread: jobject,
    carries: bool,
}

impl Stopped {
    /// Stops `thread`.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread. `thread` must be a reference to the
    /// `java.lang.Thread` of another platform thread, which lives as long as the result.
    pub unsafe fn stop(
        jvmti: Jvmti,
        env: *mut JNIEnv,
        thread: jobject,
    ) -> Result<Stopped, NotSuspended> {
        for _ in 0..ATTEMPTS {
            // SAFETY: as the caller promised; references that `carried_by` makes are deleted here or by the result.
            unsafe {
                let virtual_thread = jvmti.carried_by(thread);
                let stopped = if virtual_thread.is_null() {
                    jvmti.suspend(thread).map(|()| thread)
                } else {
                    jvmti.suspend(virtual_thread).map(|()| virtual_thread)
                };
                let stopped = stopped.map(|suspended| Stopped {
                    jvmti,
                    env,
                    suspended,
                    thread,
                    carries: !virtual_thread.is_null(),
                });
                match stopped {
                    Ok(stopped) if stopped.carries_still() => return Ok(stopped),
                    Ok(moved) => drop(moved),
                    Err(refused) => {
                        ((**env).v1_1.DeleteLocalRef)(env, virtual_thread);
                        // A virtual thread that has ended is carried no more.
                        if virtual_thread.is_null() {
                            return Err(refused);
                        }
                    }
                }
            }
        }
        Err(NotSuspended::Already)
    }

    /// Whether a virtual thread is mounted.
    pub fn carries_virtual_thread(&self) -> bool {
        self.carries
    }

    /// The frames of the virtual thread and of its carrier, wherever they are.
    pub fn frames(&self) -> Option<[Vec<FrameInfo>; 2]> {
        // SAFETY: both are references to threads.
        let frames = |thread| unsafe { self.jvmti.stack_trace(thread) };
        Some([frames(self.suspended)?, frames(self.thread)?])
    }

    /// Whether the thread carries what was suspended.
    ///
    /// # Safety
    /// As for [`Stopped::stop`].
    unsafe fn carries_still(&self) -> bool {
        let expected = if self.carries {
            self.suspended
        } else {
            std::ptr::null_mut()
        };
        // SAFETY: as the caller promised.
        unsafe {
            let functions = &(**self.env).v1_1;
            let now = self.jvmti.carried_by(self.thread);
            let is_same = (functions.IsSameObject)(self.env, now, expected);
            (functions.DeleteLocalRef)(self.env, now);
            is_same
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // SAFETY: this has suspended the thread; a reference to a virtual thread is this one's own.
        unsafe {
            self.jvmti.resume(self.suspended);
            if self.carries {
                ((**self.env).v1_1.DeleteLocalRef)(self.env, self.suspended);
            }
        }
    }
}
