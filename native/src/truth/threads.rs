//! The threads that run Java code, as the agent keeps them.

use crate::jvm::os::thread_word;
use crate::truth::trace_stack::TraceStack;
use jni_sys::{JNIEnv, jobject};
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, compiler_fence};

/// One thread's state: found through its thread-local word, also by its signal handler.
///
/// States are never freed, only used again, because a signal may be late.
pub struct ThreadState {
    /// The hooks' view of its own stack.
    own_stack: TraceStack,
    /// The trace stack that hooks use now: that of the virtual thread it carries, if any.
    /// One word, so that a handler sees the one or the other.
    stack: AtomicPtr<TraceStack>,
    /// Its JNI environment.
    env: AtomicPtr<JNIEnv>,
    /// Its kernel id; 0 while nobody uses this state.
    tid: AtomicI32,
    /// Where its stack begins and ends; both 0 if that is not known.
    stack_start: AtomicUsize,
    stack_end: AtomicUsize,
    /// A global reference to its `java.lang.Thread`; null until known.
    object: AtomicPtr<jni_sys::_jobject>,
    /// When light hooks may be invited to the next check.
    next_check: AtomicU64,
    /// What only the thread itself uses.
    pub own: Own,
}

/// The part of a state that only its thread uses, outside of signal handlers.
pub struct Own {
    /// Pushes until the next check.
    pub countdown: Cell<u32>,
    /// Even pops that were not counted in the slots yet.
    pub even_pops: Cell<u64>,
    /// State of the random numbers.
    pub random: Cell<u64>,
    /// When the last check ended, in nanoseconds; 0 before the first.
    pub last_check: Cell<u64>,
    /// Pushes between the last two checks.
    pub pushes: Cell<u32>,
}

// SAFETY: `own` is used by the owning thread only; the rest is atomic or a `TraceStack`,
// which only the owning thread uses too.
unsafe impl Sync for ThreadState {}
// SAFETY: as above.
unsafe impl Send for ThreadState {}

/// The word of a thread that has ended: its late hooks do nothing.
const ENDED: usize = 1;

impl ThreadState {
    /// The calling thread's state, if it has one. Async-signal-safe.
    #[inline(always)]
    pub fn current() -> Option<&'static ThreadState> {
        let word = thread_word::get();
        // SAFETY: other values than these two are pointers to states, which live for good.
        (word > ENDED).then(|| unsafe { &*(word as *const ThreadState) })
    }

    /// The trace stack that hooks use now.
    #[inline(always)]
    pub fn stack(&self) -> &TraceStack {
        // SAFETY: null only until `enter` has set it; trace stacks live for good.
        unsafe { &*self.stack.load(Relaxed) }
    }

    /// Its own trace stack, while it carries a virtual thread with another one.
    pub fn carrier_stack(&self) -> Option<&TraceStack> {
        (!ptr::eq(self.stack(), &self.own_stack)).then_some(&self.own_stack)
    }

    /// Lets hooks use `stack`, that of a virtual thread; `None`: its own.
    pub fn carry(&self, stack: Option<&'static TraceStack>) {
        let stack = stack.unwrap_or(&self.own_stack);
        compiler_fence(Release);
        self.stack.store(ptr::from_ref(stack).cast_mut(), Relaxed);
    }

    /// Its own trace stack, whatever it carries.
    pub fn own_stack(&self) -> &TraceStack {
        &self.own_stack
    }

    /// Plans the next check: after so many pushes of native hooks, or for light ones at the
    /// first invitation after `time`, in nanoseconds of [`crate::layers::at_check::nanos`].
    pub fn plan_check(&self, after: u32, time: u64) {
        self.own.countdown.set(after);
        self.next_check.store(time, Relaxed);
        self.own_stack.allow();
    }

    /// Whether a check is due at this push.
    #[inline(always)]
    pub fn check_is_due(&self) -> bool {
        let left = self.own.countdown.get();
        if left <= 1 || self.own_stack.is_stopped() {
            return true;
        }
        self.own.countdown.set(left - 1);
        false
    }

    /// Lets the next push of a light hook take the native way and make a check, if it is time.
    /// From any thread.
    pub fn invite_check(&self, now: u64) {
        if now >= self.next_check.load(Relaxed) {
            self.own_stack.stop();
        }
    }

    /// Its JNI environment.
    pub fn env(&self) -> *mut JNIEnv {
        self.env.load(Relaxed)
    }

    /// Its kernel id; 0 if the thread has ended.
    pub fn tid(&self) -> i32 {
        self.tid.load(Acquire)
    }

    /// Where the thread's own memory for frames lies; empty if that is not known.
    pub fn stack_range(&self) -> Range<usize> {
        self.stack_start.load(Relaxed)..self.stack_end.load(Relaxed)
    }

    /// A global reference to its `java.lang.Thread`; null until known.
    pub fn object(&self) -> jobject {
        self.object.load(Acquire)
    }
}

/// All threads that run Java code.
pub struct Threads {
    lists: Mutex<Lists>,
    seed: u64,
}

#[derive(Default)]
struct Lists {
    live: Vec<&'static ThreadState>,
    free: Vec<&'static ThreadState>,
    started: u64,
}

impl Threads {
    /// No thread yet; `seed` is that of their random numbers.
    pub fn new(seed: u64) -> Threads {
        Threads {
            lists: Mutex::default(),
            seed,
        }
    }

    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        self.lists
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The calling thread's state, made if this is its first sign of life; `None` if it has
    /// ended or there is no memory.
    #[cold]
    pub fn enter(&self, env: *mut JNIEnv) -> Option<&'static ThreadState> {
        match thread_word::get() {
            0 => {}
            ENDED => return None,
            _ => return ThreadState::current(),
        }
        let (range, mut lists) = (stack_range(), self.lists());
        let bytes = size_of_stack(&range);
        let fits = |state: &&'static ThreadState| state.own_stack.serves(bytes);
        let state = match lists.free.iter().position(fits) {
            Some(index) => lists.free.swap_remove(index),
            None => Box::leak(Box::new(new_state(bytes).ok()?)),
        };
        lists.started += 1;
        state.own_stack.clear();
        state.carry(None);
        state.own.random.set(mix(self.seed ^ lists.started));
        state.plan_check(1, 0);
        state.own.last_check.set(0);
        state.env.store(env, Relaxed);
        state.stack_start.store(range.start, Relaxed);
        state.stack_end.store(range.end, Relaxed);
        // SAFETY: no preconditions.
        state.tid.store(unsafe { libc::gettid() }, Release);
        lists.live.push(state);
        drop(lists);
        thread_word::set(ptr::from_ref(state) as usize);
        Some(state)
    }

    /// Makes the `java.lang.Thread` of `state` known.
    pub fn set_object(&self, state: &ThreadState, global_reference: jobject) {
        state.object.store(global_reference, Release);
    }

    /// The calling thread ends: its state is free for the next one. Returns the global
    /// reference to give back.
    pub fn leave(&self, state: &'static ThreadState) -> jobject {
        // First the word: from here on this thread's handler finds no state.
        thread_word::set(ENDED);
        let mut lists = self.lists();
        state.tid.store(0, Release);
        lists.live.retain(|live| !ptr::eq(*live, state));
        lists.free.push(state);
        state.object.swap(ptr::null_mut(), Release)
    }

    /// Calls `choose` with the live threads, while none can leave.
    pub fn with_live<T>(&self, choose: impl FnOnce(&[&'static ThreadState]) -> T) -> T {
        choose(&self.lists().live)
    }

    /// A thread that ended may come back: a native thread that attaches again.
    pub fn revive() {
        if thread_word::get() == ENDED {
            thread_word::set(0);
        }
    }
}

fn new_state(stack_bytes: usize) -> io::Result<ThreadState> {
    Ok(ThreadState {
        own_stack: TraceStack::new(stack_bytes)?,
        stack: AtomicPtr::default(),
        env: AtomicPtr::default(),
        tid: AtomicI32::new(0),
        stack_start: AtomicUsize::new(0),
        stack_end: AtomicUsize::new(0),
        object: AtomicPtr::default(),
        next_check: AtomicU64::new(0),
        own: Own {
            countdown: Cell::new(1),
            even_pops: Cell::new(0),
            random: Cell::new(0),
            last_check: Cell::new(0),
            pushes: Cell::new(1),
        },
    })
}

/// The size of the calling thread's stack.
pub fn stack_bytes() -> usize {
    size_of_stack(&stack_range())
}

/// The size of a stack, a usual one if it is not known where it lies.
fn size_of_stack(range: &Range<usize>) -> usize {
    const USUAL: usize = 8 << 20;
    match range.len() {
        0 => USUAL,
        known => known,
    }
}

/// Where the calling thread's stack lies; empty if that cannot be told.
fn stack_range() -> Range<usize> {
    // SAFETY: the attributes are initialised by the call and destroyed after their use.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0..0;
        }
        let (mut start, mut size) = (ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        match found {
            0 => start as usize..start as usize + size,
            _ => 0..0,
        }
    }
}

/// Steele, Lea and Flood's SplitMix64 ("Fast splittable pseudorandom number generators",
/// 2014): one multiplication chain, no state beyond a word.
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Own {
    /// The next random number.
    pub fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        mix(state)
    }
}
