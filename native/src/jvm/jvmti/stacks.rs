//! The stacks of several threads at one instant.

use super::env::{Error, Jvmti, call, ok};
use crate::jvm::jni::{Env, Local, Ref};
use jni_sys::jint;
use std::ptr;
use vm::jvmti::{FrameInfo, StackInfo};

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
