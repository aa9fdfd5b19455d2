//! Threads, and the stacks of one or of several threads at one instant.

use super::env::{Error, Jvmti, call, ok};
use crate::jvm::jni::{Env, Local, Ref};
use jni_sys::jint;
use std::ffi::c_void;
use std::ptr;
use vm::jvmti::{FrameInfo, StackInfo};

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

    /// GetStackTrace of `thread` (`None`: the calling thread) from `start_depth` on into `buffer`; the number of frames.
    pub fn stack_trace(
        self,
        thread: Option<Ref<'_>>,
        start_depth: jint,
        buffer: &mut [FrameInfo],
    ) -> Result<usize, Error> {
        let mut count = 0;
        ok(call!(
            self,
            GetStackTrace,
            thread.map_or(ptr::null_mut(), Ref::raw),
            start_depth,
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

/// The frames of a stack.
///
/// # Safety
/// The VM must have written the stack, and not have freed it while the frames are used.
unsafe fn frames(stack: &StackInfo) -> &[FrameInfo] {
    if stack.frames.is_null() || stack.count <= 0 {
        &[]
    } else {
        // SAFETY: the VM wrote this many frames, as the caller promised.
        unsafe { std::slice::from_raw_parts(stack.frames, stack.count as usize) }
    }
}

impl Jvmti {
    /// GetThreadListStackTraces of one thread: shows its newest `most` frames to `look`.
    pub fn stack_in_list<T>(
        self,
        thread: Ref<'_>,
        most: usize,
        look: impl FnOnce(&[FrameInfo]) -> T,
    ) -> Result<T, Error> {
        let (list, mut stacks) = ([thread.raw()], ptr::null_mut::<StackInfo>());
        ok(call!(
            self,
            GetThreadListStackTraces,
            1,
            list.as_ptr(),
            most as jint,
            &mut stacks
        ))?;
        let shown = |stacks: &[StackInfo]| {
            // SAFETY: the VM frees the frames together with the stacks, behind this.
            look(stacks.first().map_or(&[], |stack| unsafe { frames(stack) }))
        };
        // SAFETY: the VM allocated it, with one element for the one thread.
        Ok(unsafe { self.look_at_array(stacks, 1, shown) })
    }

    /// GetAllStackTraces: shows the newest `most` frames of `thread` to `look`, if the thread is
    /// alive, and returns the number of threads.
    pub fn stack_among_all<T>(
        self,
        env: Env<'_>,
        thread: Ref<'_>,
        most: usize,
        look: impl FnOnce(Option<&[FrameInfo]>) -> T,
    ) -> Result<(T, usize), Error> {
        let (mut stacks, mut count) = (ptr::null_mut::<StackInfo>(), 0);
        ok(call!(
            self,
            GetAllStackTraces,
            most as jint,
            &mut stacks,
            &mut count
        ))?;
        let find = |stacks: &[StackInfo]| {
            // SAFETY: each is a local reference that the VM made for this call.
            let threads = stacks
                .iter()
                .map(|stack| unsafe { env.adopt(stack.thread) });
            // Each reference is deleted, whether it is the thread or not.
            let threads: Vec<Option<Local<'_>>> = threads.collect();
            let is_it = |other: &Local<'_>| env.is_same(other.get(), thread);
            let found = threads
                .iter()
                .position(|other| other.as_ref().is_some_and(is_it));
            // SAFETY: the VM frees the frames together with the stacks, behind this.
            let found = found.map(|at| unsafe { frames(&stacks[at]) });
            (look(found), stacks.len())
        };
        // SAFETY: the VM allocated the array, with this many elements.
        Ok(unsafe { self.look_at_array(stacks, count, find) })
    }
}
