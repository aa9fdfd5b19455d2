//! A thread as the VM sees it (`share/runtime/javaThread.hpp`): its state, and the anchor of its
//! last Java frame.

use crate::jvm::jni::{Env, EnvAddress, Ref};
use crate::jvm::os::peek::peek;
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::structs::Structs;
use hotspot::steps::anchor as steps;
use hotspot::vm::fields::Fields;
use hotspot::vm::thread_state::{Doing, States, ThreadState};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Offsets in the VM's `JavaThread`.
pub struct JavaThreads {
    state: usize,
    states: States,
    last_sp: usize,
    last_pc: usize,
    last_fp: Option<usize>,
    /// The distance from a thread's JNI environment to its `JavaThread`; `isize::MIN` until it is
    /// known.
    from_env: AtomicIsize,
}

/// A thread at one instant.
#[derive(Copy, Clone, Debug, Default)]
pub struct Anchor {
    /// What the thread does.
    pub state: ThreadState,
    /// Stack pointer at the last Java frame; 0 if the thread is in Java code.
    pub last_sp: usize,
    /// Program counter at the last Java frame; may be 0 although there is one.
    pub last_pc: usize,
}

impl JavaThreads {
    /// `None` if this VM does not describe its threads as expected.
    pub fn find(structs: &Structs) -> Option<JavaThreads> {
        let thread = &["JavaThread"];
        let anchor = structs.field(thread, "_anchor")?;
        Some(JavaThreads {
            state: structs.field(thread, "_thread_state")?,
            states: States::find(structs)?,
            last_sp: anchor + structs.field(&["JavaFrameAnchor"], "_last_Java_sp")?,
            last_pc: anchor + structs.field(&["JavaFrameAnchor"], "_last_Java_pc")?,
            last_fp: structs
                .field(&["JavaFrameAnchor"], "_last_Java_fp")
                .map(|fp| anchor + fp),
            from_env: AtomicIsize::new(isize::MIN),
        })
    }

    /// Learns this distance from the calling thread, whose `java.lang.Thread` has the address of
    /// the `JavaThread` in the field `eetop`.
    pub fn learn(&self, env: Env<'_>, thread: Ref<'_>) {
        let Some(class) = env.class_of(thread) else {
            return;
        };
        let Some(field) = env.long_field(class.get(), c"eetop") else {
            return;
        };
        let java_thread = env.long(thread, field) as isize;
        if java_thread != 0 {
            let distance = java_thread.wrapping_sub(env.address().0 as isize);
            self.from_env.store(distance, Relaxed);
        }
    }

    /// Whether the thread of `env` waits inside the VM, if this is known: for a monitor, in
    /// `Object.wait`, parked or asleep. May be called from any thread.
    pub fn is_blocked(&self, env: EnvAddress) -> bool {
        let state = |thread| peek::<i32>(thread + self.state);
        let state = self.thread_of(env).and_then(state);
        state.is_some_and(|state| self.states.of(state) == ThreadState::of(Doing::Blocked))
    }

    /// The last Java frame of the thread of `env`, which has left Java code.
    pub fn last_frame(&self, env: EnvAddress) -> Option<steps::Anchor> {
        let thread = self.thread_of(env)?;
        Some(steps::Anchor {
            sp: peek(thread + self.last_sp)?,
            pc: peek(thread + self.last_pc)?,
            fp: peek(thread + self.last_fp?)?,
        })
    }

    fn thread_of(&self, env: EnvAddress) -> Option<usize> {
        let distance = self.from_env.load(Relaxed);
        (distance != isize::MIN).then(|| (env.0 as isize).wrapping_add(distance) as usize)
    }

    /// The anchor of the interrupted thread. `None` if its `JavaThread` is not known.
    ///
    /// # Safety
    /// `env` must be the calling thread's.
    pub unsafe fn anchor(&self, _: &HandlerContext<'_>, env: EnvAddress) -> Option<Anchor> {
        let thread = self.thread_of(env)?;
        // SAFETY: the environment is a part of its thread, which runs here.
        unsafe {
            Some(Anchor {
                state: self
                    .states
                    .of(((thread + self.state) as *const i32).read_volatile()),
                last_sp: ((thread + self.last_sp) as *const usize).read_volatile(),
                last_pc: ((thread + self.last_pc) as *const usize).read_volatile(),
            })
        }
    }
}

impl JavaThreads {
    /// Clears the byte so far from the start of the interrupted thread's `JavaThread`, if that is known.
    ///
    /// # Safety
    /// `env` must be the calling thread's, and the byte one that this thread alone uses.
    pub unsafe fn clear_byte(&self, _: &HandlerContext<'_>, env: EnvAddress, offset: usize) {
        if let Some(thread) = self.thread_of(env) {
            // SAFETY: as the caller promised.
            unsafe { ((thread + offset) as *mut u8).write_volatile(0) };
        }
    }
}

impl Anchor {
    /// Whether the thread runs Java code, and no anchor gives its last frame.
    pub fn is_in_java(&self) -> bool {
        self.state == ThreadState::of(Doing::Java) && self.last_sp == 0
    }

    /// Whether the thread state is "in Java", and no anchor gives the walker a program counter. The
    /// interpreter sets the stack pointer of the anchor alone.
    pub fn is_without_pc(&self) -> bool {
        self.state == ThreadState::of(Doing::Java) && self.last_pc == 0
    }
}
