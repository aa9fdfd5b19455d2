//! A thread as the VM sees it: its state, and the anchor of its last Java frame.

use crate::jvm::jni::{Env, EnvAddress, Ref};
use crate::jvm::os::signal::HandlerContext;
use hotspot::layout::fields::Missing;
use hotspot::layout::thread::{Anchor, JavaThread};
use hotspot::layout::thread_state::{Activity, ThreadState};
use vm::memory::Permanent;
use vm::memory::kernel::OwnMemory;
use vm::tables::Tables;
use vm::threads::Threads;

/// The VM's threads.
pub struct JavaThreads(Threads);

/// A thread at one instant.
#[derive(Copy, Clone, Debug, Default)]
pub struct ThreadSnapshot {
    /// Its state.
    pub state: ThreadState,
    /// Its last Java frame. The program counter may be 0 although there is a frame.
    pub last: Anchor,
    /// The address of its `JavaThread`.
    pub thread: usize,
}

impl JavaThreads {
    /// Finds their layout.
    pub fn find(tables: &Tables) -> Result<JavaThreads, Missing> {
        Threads::find(tables).map(JavaThreads)
    }

    /// Learns from the calling thread, which `thread` is, in the live phase, how environments lead to threads.
    pub fn learn(&self, env: Env<'_>, thread: Ref<'_>) -> Result<(), Missing> {
        // SAFETY: both are the calling thread's; the VM calls the agent without an exception.
        let thread = unsafe { self.0.learn_from(env.raw(), thread.raw()) }?;
        // The VM calls agents in native code.
        match thread.state(&self.0.layout, &OwnMemory) {
            Some(state) if state == ThreadState::of(Activity::Native) => Ok(()),
            _ => Err(Activity::Native.contradicted()),
        }
    }

    /// Whether the thread of `env` waits inside the VM, if this is known: for a monitor, in
    /// `Object.wait`, parked or asleep. May be called from any thread.
    pub fn is_blocked(&self, env: EnvAddress) -> bool {
        let state = |thread: JavaThread| thread.state(&self.0.layout, &OwnMemory);
        let state = self.thread_of(env).and_then(state);
        state == Some(ThreadState::of(Activity::Blocked))
    }

    /// The last Java frame of the thread of `env`, which has left Java code.
    pub fn last_frame(&self, env: EnvAddress) -> Option<Anchor> {
        self.thread_of(env)?.anchor(&self.0.layout, &OwnMemory)
    }

    fn thread_of(&self, env: EnvAddress) -> Option<JavaThread> {
        self.0.of_environment(env.0)
    }

    /// The interrupted thread. `None` if its `JavaThread` is not known.
    ///
    /// # Safety
    /// `env` must be the calling thread's.
    pub unsafe fn see(&self, _: &HandlerContext<'_>, env: EnvAddress) -> Option<ThreadSnapshot> {
        let thread = self.thread_of(env)?;
        // SAFETY: the environment is a part of its thread, which runs here.
        let memory = unsafe { Permanent::new() };
        let last = thread.anchor(&self.0.layout, &memory)?;
        Some(ThreadSnapshot {
            state: thread.state(&self.0.layout, &memory)?,
            // `JavaFrameAnchor::clear` sets the stack pointer to 0 before the rest (javaFrameAnchor_x86.hpp), and the VM asks for it
            // alone (`has_last_Java_frame`).
            last: if last.sp == 0 {
                Anchor::default()
            } else {
                last
            },
            thread: thread.0,
        })
    }

    /// Clears the byte so far from the start of the interrupted thread's `JavaThread`, if that is known.
    ///
    /// # Safety
    /// `env` must be the calling thread's, and the byte one that this thread alone uses.
    pub unsafe fn clear_byte(&self, _: &HandlerContext<'_>, env: EnvAddress, offset: usize) {
        if let Some(JavaThread(thread)) = self.thread_of(env) {
            // SAFETY: as the caller promised.
            unsafe { ((thread + offset) as *mut u8).write_volatile(0) };
        }
    }
}

impl ThreadSnapshot {
    /// Whether the thread runs Java code, and no anchor gives its last frame.
    pub fn is_in_java(&self) -> bool {
        self.state == ThreadState::of(Activity::Java) && self.last.sp == 0
    }

    /// Whether the thread runs no Java code, and no anchor gives its last Java frame: it has none, or its walkers see none.
    pub fn is_outside(&self) -> bool {
        self.state != ThreadState::of(Activity::Java) && self.last.sp == 0
    }

    /// Whether the thread runs native code, or comes back from it.
    pub fn is_in_native(&self) -> bool {
        self.state.activity() == Activity::Native
    }

    /// Whether the thread state is "in Java", and no anchor gives the walker a program counter. The
    /// interpreter sets the stack pointer of the anchor alone.
    pub fn is_without_pc(&self) -> bool {
        self.state == ThreadState::of(Activity::Java) && self.last.pc == 0
    }
}
