//! The calling thread as the VM sees it, in handlers: its state, its stack, and the anchor of its last Java frame
//! (`share/runtime/javaThread.hpp`).

use crate::memory::{Live, Permanent};
use crate::threads::Threads;
use hotspot::layout::fields::{Fields, Missing};
use hotspot::layout::thread::{Anchor, JavaThread, NOT_TERMINATED, WalkLayout};
use hotspot::layout::thread_state::ThreadState;
use hotspot::memory::Memory;
use jni_sys::JNIEnv;
use std::ops::Range;

/// Finds threads, and reads them.
pub struct CurrentThread {
    threads: Threads,
    layout: WalkLayout,
    /// The distance from a thread to its JNI environment.
    environment: usize,
    /// The first word of each JNI environment.
    functions: usize,
    /// The first word of threads of the most usual class.
    class: usize,
    /// The key of the VM's thread-local pointer to its thread.
    key: libc::pthread_key_t,
}

impl CurrentThread {
    /// Whether the VM publishes the layouts.
    pub fn check(fields: &impl Fields) -> Result<(), Missing> {
        Threads::find(fields)?.layout.anchors().check_fp()?;
        WalkLayout::find(fields).map(drop)
    }

    /// Learns from the calling thread.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a
    /// pending exception.
    pub unsafe fn learn(fields: &impl Fields, env: *mut JNIEnv) -> Result<CurrentThread, Missing> {
        let threads = Threads::find(fields)?;
        threads.layout.anchors().check_fp()?;
        let layout = WalkLayout::find(fields)?;
        // SAFETY: as the caller promised.
        let JavaThread(thread) = unsafe { threads.learn(env)? };
        let key = key_of(thread).ok_or(Missing::Unexpected(
            "no thread-local key leads to the VM's thread",
        ))?;
        // SAFETY: the calling thread's own description.
        let terminated = unsafe { Permanent::new() }.u32(thread.wrapping_add(layout.terminated));
        if terminated != Some(layout.not_terminated) {
            return Err(Missing::Contradicted(NOT_TERMINATED));
        }
        Ok(CurrentThread {
            environment: (env as usize).wrapping_sub(thread),
            threads,
            layout,
            // SAFETY: the environment begins with the pointer to its functions.
            functions: unsafe { *env.cast::<usize>() },
            // SAFETY: the calling thread's own description, which begins with the pointer to its virtual functions.
            class: unsafe { *(thread as *const usize) },
            key,
        })
    }

    /// The Java thread that runs here; `None` if the calling thread is no Java thread.
    /// Async-signal-safe, as far as `pthread_getspecific` is: the function only reads.
    #[inline]
    pub fn get(&self, memory: &Live<'_>) -> Option<JavaThread> {
        // SAFETY: the key was in use when it was found, and the VM never deletes it.
        let thread = unsafe { libc::pthread_getspecific(self.key) } as usize;
        // SAFETY: the VM names the description of the calling thread here as long as there is one. It is of this size if it is of
        // this class. Threads of the VM have smaller ones.
        unsafe {
            if thread != 0 && Permanent::new().word(thread) == Some(self.class) {
                memory.trust(thread..thread.wrapping_add(self.layout.size));
            }
        }
        let functions = memory.word(thread.wrapping_add(self.environment))?;
        (thread != 0 && functions == self.functions).then_some(JavaThread(thread))
    }

    /// The Java thread of a JNI environment.
    pub fn of_environment(&self, env: *mut JNIEnv) -> JavaThread {
        JavaThread((env as usize).wrapping_sub(self.environment))
    }

    /// The state of a thread.
    #[inline]
    pub fn state(&self, memory: &impl Memory, thread: JavaThread) -> Option<ThreadState> {
        thread.state(&self.threads.layout, memory)
    }

    /// Whether a thread has begun to end.
    pub fn is_ending(&self, memory: &impl Memory, JavaThread(thread): JavaThread) -> Option<bool> {
        let terminated = memory.u32(thread.wrapping_add(self.layout.terminated))?;
        Some(terminated != self.layout.not_terminated)
    }

    /// The description of the frames of the interpreter by which a thread replaces a frame of compiled code: from the
    /// description on until the new frames are filled in (`share/runtime/deoptimization.cpp`). The outer answer is `None` if
    /// the thread cannot be read.
    pub fn unpacks(
        &self,
        memory: &impl Memory,
        JavaThread(thread): JavaThread,
    ) -> Option<Option<usize>> {
        let description = memory.word(thread.wrapping_add(self.layout.unpacked))?;
        Some((description != 0).then_some(description))
    }

    /// The return address of the callee whose exception a thread is about to handle; `None` if there is none.
    pub fn exception_pc(
        &self,
        memory: &impl Memory,
        JavaThread(thread): JavaThread,
    ) -> Option<usize> {
        let pc = memory.word(thread.wrapping_add(self.layout.exception_pc))?;
        (pc != 0).then_some(pc)
    }

    /// The field of a thread with the entry of its continuation, if the VM publishes it.
    pub fn continuation_entry(&self) -> Option<usize> {
        self.layout.continuation_entry
    }

    /// The addresses of the stack of a thread.
    #[inline]
    pub fn stack(&self, memory: &Live<'_>, JavaThread(thread): JavaThread) -> Option<Range<usize>> {
        let base = memory.word(thread.wrapping_add(self.layout.stack_base))?;
        let size = memory.word(thread.wrapping_add(self.layout.stack_size))?;
        let stack = base.checked_sub(size)?..base;
        let here = std::ptr::from_ref(&size) as usize;
        if stack.contains(&here) {
            // SAFETY: the calling thread runs on this stack, and has come so far.
            unsafe { memory.trust(here..base) };
        }
        Some(stack)
    }

    /// Where a thread left Java code; `None` if it runs Java code, or has never run Java code.
    #[inline]
    pub fn anchor(&self, memory: &impl Memory, thread: JavaThread) -> Option<Anchor> {
        let anchor = thread.anchor(&self.threads.layout, memory)?;
        (anchor.sp != 0).then_some(anchor)
    }

    /// The anchor at `place`; `None` if none is set.
    pub fn anchor_at(&self, memory: &impl Memory, place: usize) -> Option<Anchor> {
        let anchor = self.threads.layout.anchors().read(memory, place)?;
        (anchor.sp != 0).then_some(anchor)
    }

    /// The addresses of the stack that contains `sp`: the stack of the calling thread, or of
    /// another Java thread.
    pub fn stack_of(&self, memory: &Live<'_>, sp: usize) -> Option<Range<usize>> {
        const MOST_THREADS: usize = 1 << 20;
        let stack = |thread| {
            let stack = self.stack(memory, thread);
            stack.filter(|stack| stack.contains(&sp))
        };
        if let Some(stack) = self.get(memory).and_then(stack) {
            return Some(stack);
        }
        let list = memory.word(self.layout.list)?;
        let length = memory.u32(list.wrapping_add(self.layout.list_length))? as usize;
        let threads = memory.word(list.wrapping_add(self.layout.list_threads))?;
        (0..length.min(MOST_THREADS)).find_map(|at| {
            let place = threads.wrapping_add(at.wrapping_mul(size_of::<usize>()));
            stack(JavaThread(memory.word(place)?))
        })
    }
}

/// The key under which the calling thread stores `thread` (`ThreadLocalStorage`, which the VM sets
/// in addition to its own variable).
fn key_of(thread: usize) -> Option<libc::pthread_key_t> {
    // `PTHREAD_KEYS_MAX` of glibc and musl.
    (0..1024).find(|&key| {
        // SAFETY: glibc and musl answer with null for a key that is not in use.
        unsafe { libc::pthread_getspecific(key) as usize == thread }
    })
}
