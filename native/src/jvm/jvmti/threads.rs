//! Threads and their stacks.

use super::env::{Error, Jvmti, call, ok};
use crate::jvm::jni::Ref;
use jni_sys::jint;
use std::ffi::c_void;
use std::ptr;
use vm::jvmti::FrameInfo;

impl Jvmti {
    /// GetThreadLocalStorage of `thread` (`None`: the calling one), virtual or not: a value that
    /// [`Jvmti::set_thread_local`] got. Each environment must use one type only.
    ///
    /// # Safety
    /// `T` must be the type that was set.
    pub unsafe fn thread_local<T>(self, thread: Option<Ref<'_>>) -> Option<&'static T> {
        let mut word = ptr::null_mut::<c_void>();
        call!(
            self,
            GetThreadLocalStorage,
            thread.map_or(ptr::null_mut(), Ref::raw),
            &mut word
        );
        // SAFETY: null, or what was set, which lives for good.
        unsafe { word.cast::<T>().as_ref() }
    }

    /// SetThreadLocalStorage of the calling thread, virtual or not.
    pub fn set_thread_local<T>(self, value: Option<&'static T>) -> Result<(), Error> {
        let word = value.map_or(ptr::null(), ptr::from_ref);
        ok(call!(
            self,
            SetThreadLocalStorage,
            ptr::null_mut(),
            word.cast()
        ))
    }

    /// GetFrameCount of the calling thread: whether it has frames.
    pub fn has_frames(self) -> Result<bool, Error> {
        let mut count = 0;
        ok(call!(self, GetFrameCount, ptr::null_mut(), &mut count))?;
        Ok(count > 0)
    }

    /// GetStackTrace of `thread` (`None`: the calling thread) into `buffer`; the number of frames.
    pub fn stack_trace(
        self,
        thread: Option<Ref<'_>>,
        buffer: &mut [FrameInfo],
    ) -> Result<usize, Error> {
        let mut count = 0;
        ok(call!(
            self,
            GetStackTrace,
            thread.map_or(ptr::null_mut(), Ref::raw),
            0,
            buffer.len() as jint,
            buffer.as_mut_ptr(),
            &mut count
        ))?;
        Ok(count as usize)
    }

    /// SuspendThread: stops `thread` until the answer is dropped. A thread in a native method may
    /// finish the method, and stops before it returns to Java.
    ///
    /// Until then the caller must not wait for anything that `thread` may hold.
    pub fn suspend(self, thread: Ref<'_>) -> Result<Suspended<'_>, Error> {
        ok(call!(self, SuspendThread, thread.raw()))?;
        Ok(Suspended {
            jvmti: self,
            thread,
        })
    }
}

/// A suspended thread. It runs on when the value is dropped.
pub struct Suspended<'a> {
    jvmti: Jvmti,
    thread: Ref<'a>,
}

impl<'a> Suspended<'a> {
    /// The thread.
    pub fn thread(&self) -> Ref<'a> {
        self.thread
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        // ResumeThread fails only for a thread that has ended or was resumed by another agent.
        call!(self.jvmti, ResumeThread, self.thread.raw());
    }
}
