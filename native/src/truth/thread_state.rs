//! The agent's state of a thread.

use super::trace_stack::{Pace, TraceStack};
use crate::jvm::jni::{Env, EnvAddress, Global, Local, Ref};
use crate::jvm::os::signal_set::SignalSet;
use crate::jvm::os::thread::{self, StackBounds};
use jni_sys::_jobject;
use oracle::random::{GOLDEN, mix};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, compiler_fence};
use std::{io, ptr};

/// The state of a thread. It is found through the thread's thread-local word, also by its signal
/// handler.
///
/// States are never freed, but used again, because a signal may be late.
pub struct ThreadState {
    /// The trace stack of the thread itself.
    own_stack: TraceStack,
    /// The trace stack that hooks use now: that of the virtual thread that the thread carries, or
    /// its own. It is one word, so a handler sees one of the two.
    stack: AtomicPtr<TraceStack>,
    /// Its JNI environment.
    env: AtomicUsize,
    /// Its kernel id; 0 while no thread uses this state.
    tid: AtomicI32,
    /// The bounds of its stack; both 0 if they are not known.
    stack_start: AtomicUsize,
    stack_end: AtomicUsize,
    /// The signals that it blocks outside of handlers.
    blocked: AtomicU64,
    /// A global reference to its `java.lang.Thread`; null until known.
    object: AtomicPtr<_jobject>,
    /// The earliest time at which light hooks make the next check; in runs without hooks that of events, as CPU time of
    /// the thread.
    next_check: AtomicU64,
    /// Whether the JVM has suspended the thread with a signal.
    suspended: AtomicBool,
    /// Whether the JVM has resumed it since.
    resumed: AtomicBool,
    /// Whether its native hooks count.
    heard: AtomicBool,
    /// What a walker keeps of the thread; null if nothing.
    of_walker: AtomicPtr<c_void>,
    /// The part that only the thread itself uses.
    pub own: Own,
}

/// The part of a state that only its thread uses, outside of signal handlers.
pub struct Own {
    /// Pushes until the next check.
    pub countdown: Cell<u32>,
    /// Balanced pops that are not counted in the slots yet.
    pub even_pops: Cell<u64>,
    /// State of the random numbers.
    random: Cell<u64>,
    /// When the last check ended, in nanoseconds; 0 before the first.
    pub last_check: Cell<u64>,
    /// Events make no check before this time, in nanoseconds of [`crate::jvm::os::clock::since_start`].
    pub not_before: Cell<u64>,
    /// Pushes between the last two checks.
    pub pushes: Cell<u32>,
    /// Whether the thread may carry virtual threads; true while this is not known.
    pub may_carry: Cell<bool>,
    /// Its exact hooks.
    pub pace: Pace,
}

// SAFETY: `own` is used by the owning thread only; the rest is atomic or a `TraceStack`,
// which only the owning thread uses too.
unsafe impl Sync for ThreadState {}
// SAFETY: as above.
unsafe impl Send for ThreadState {}

/// The thread-local word of a thread that has ended. Hooks that run later do nothing.
const ENDED: usize = 1;

/// What the calling thread's word says.
#[derive(Copy, Clone)]
pub enum ThreadWord {
    /// The agent has not seen the thread yet.
    New,
    /// The thread has this state.
    Known(&'static ThreadState),
    /// The thread has ended.
    Ended,
}

impl ThreadWord {
    /// The word of the calling thread.
    pub fn of_this_thread() -> ThreadWord {
        match (thread::word(), ThreadState::current()) {
            (_, Some(state)) => ThreadWord::Known(state),
            (ENDED, None) => ThreadWord::Ended,
            (_, None) => ThreadWord::New,
        }
    }

    /// Sets the word of the calling thread.
    pub fn set(self) {
        thread::set_word(match self {
            ThreadWord::New => 0,
            ThreadWord::Known(state) => ptr::from_ref(state) as usize,
            ThreadWord::Ended => ENDED,
        });
    }
}

impl ThreadState {
    /// A state for a thread whose stack has `stack_bytes`. No thread uses it yet.
    pub fn new(stack_bytes: usize) -> io::Result<ThreadState> {
        Ok(ThreadState {
            own_stack: TraceStack::new(stack_bytes)?,
            stack: AtomicPtr::default(),
            env: AtomicUsize::new(0),
            tid: AtomicI32::new(0),
            stack_start: AtomicUsize::new(0),
            stack_end: AtomicUsize::new(0),
            blocked: AtomicU64::new(0),
            object: AtomicPtr::default(),
            next_check: AtomicU64::new(0),
            suspended: AtomicBool::new(false),
            resumed: AtomicBool::new(false),
            heard: AtomicBool::new(true),
            of_walker: AtomicPtr::default(),
            own: Own {
                countdown: Cell::new(1),
                even_pops: Cell::new(0),
                random: Cell::new(0),
                last_check: Cell::new(0),
                not_before: Cell::new(0),
                pushes: Cell::new(1),
                may_carry: Cell::new(true),
                pace: Pace::default(),
            },
        })
    }

    /// The signals that the thread blocked when it began.
    pub fn blocked(&self) -> SignalSet {
        SignalSet::from_bits(self.blocked.load(Relaxed))
    }

    /// Makes this the state of the calling thread. `seed` starts its random numbers.
    pub fn begin(&self, env: Env<'_>, bounds: &StackBounds, seed: u64) {
        self.own_stack.clear();
        self.heard.store(true, Relaxed);
        self.carry(None);
        self.own.random.set(mix(seed));
        self.own.pace.reset(false);
        self.plan_check(1, 0);
        self.own.last_check.set(0);
        self.own.not_before.set(0);
        self.own.may_carry.set(true);
        self.env.store(env.address().0, Relaxed);
        self.stack_start.store(bounds.range().start, Relaxed);
        self.stack_end.store(bounds.range().end, Relaxed);
        self.blocked.store(SignalSet::blocked().bits(), Relaxed);
        self.tid.store(thread::id(), Release);
    }

    /// From now on the agent hears of all hooks of the thread, or not of all: then nothing is known of its trace stack.
    pub fn hear(&self, all: bool) {
        match (self.heard.swap(all, Relaxed), all) {
            (false, true) => {
                self.own_stack.clear();
                self.own_stack.open();
            }
            (true, false) => self.own_stack.doubt(),
            _ => {}
        }
    }

    /// Whether the thread's native hooks count.
    #[inline(always)]
    pub fn is_heard(&self) -> bool {
        self.heard.load(Relaxed)
    }

    /// The thread no longer uses the state. Returns the reference to the `java.lang.Thread`.
    pub fn end(&self) -> Option<Global> {
        self.tid.store(0, Release);
        let object = self.object.swap(ptr::null_mut(), Release);
        // SAFETY: what `set_object` stored; nobody finds it from here on.
        unsafe { Global::from_raw(object) }
    }

    /// The calling thread's state, if it has one. Async-signal-safe.
    #[inline(always)]
    pub fn current() -> Option<&'static ThreadState> {
        let word = thread::word();
        // SAFETY: other values than these two are pointers to states, which live for good.
        (word > ENDED).then(|| unsafe { &*(word as *const ThreadState) })
    }

    /// The trace stack that hooks use now.
    #[inline(always)]
    pub fn stack(&self) -> &TraceStack {
        // SAFETY: null only until `begin` has set it; trace stacks live for good.
        unsafe { &*self.stack.load(Relaxed) }
    }

    /// The thread's own trace stack, while the thread carries a virtual thread with another trace
    /// stack.
    pub fn carrier_stack(&self) -> Option<&TraceStack> {
        (!ptr::eq(self.stack(), &self.own_stack)).then_some(&self.own_stack)
    }

    /// Lets hooks use `stack`, the trace stack of a virtual thread; `None`: the thread's own.
    pub fn carry(&self, stack: Option<&'static TraceStack>) {
        let stack = stack.unwrap_or(&self.own_stack);
        compiler_fence(Release);
        self.stack.store(ptr::from_ref(stack).cast_mut(), Relaxed);
    }

    /// The thread's own trace stack, also while it carries a virtual thread.
    pub fn own_stack(&self) -> &TraceStack {
        &self.own_stack
    }

    /// Plans the next check: native hooks make it after `after` pushes, light hooks at the first opportunity after
    /// `time`, in nanoseconds of [`crate::jvm::os::clock::since_start`]; events after this CPU time of the thread.
    pub fn plan_check(&self, after: u32, time: u64) {
        self.own.countdown.set(after);
        self.next_check.store(time, Relaxed);
        if !self.own.pace.is_on() {
            self.own_stack.open();
        }
    }

    /// Lets calls of native methods pass from `now` on, `most` at the most: as many as come in half of the time that is
    /// `left` up to the next check, at the rate of those that have passed.
    pub fn skip_calls(&self, now: u64, left: u64, most: u32) {
        let since = now.saturating_sub(self.own.last_check.replace(now));
        let per_call = (since / u64::from(self.own.pushes.get().max(1))).max(1);
        let calls = (left / 2 / per_call).clamp(1, u64::from(most)) as u32;
        self.own.pushes.set(calls);
        self.own.countdown.set(calls);
    }

    /// Whether a check is due at this push, or at this call of a native method.
    #[inline(always)]
    pub fn check_is_due(&self) -> bool {
        let left = self.own.countdown.get();
        if left <= 1 || self.is_invited() {
            return true;
        }
        self.own.countdown.set(left - 1);
        false
    }

    /// How long the next check is away at `now`; 0 if it is time. See [`plan_check`](Self::plan_check).
    pub fn time_left(&self, now: u64) -> u64 {
        self.next_check.load(Relaxed).saturating_sub(now)
    }

    /// Whether [`invite_check`](Self::invite_check) asked for a check.
    #[inline(always)]
    fn is_invited(&self) -> bool {
        !self.own.pace.is_on() && self.own_stack.is_closed()
    }

    /// Lets the next push of a light hook call the native method and make a check, if it is time.
    /// May be called from any thread.
    pub fn invite_check(&self, now: u64) {
        if self.time_left(now) == 0 {
            self.own_stack.close();
        }
    }

    /// Runs `body` as the handler of the signal with which the JVM suspends the thread. Returns false, and does
    /// not call `body`, in the handler of the second such signal, which resumes the thread. On the thread itself.
    pub fn while_suspended(&self, body: impl FnOnce()) -> bool {
        let is_first = !self.suspended.swap(true, Relaxed);
        self.resumed.store(!is_first, Relaxed);
        if is_first {
            body();
            self.suspended.store(false, Relaxed);
        }
        is_first
    }

    /// Whether the JVM has resumed the thread within the handler of the last signal that suspends threads. It does not where it had
    /// given up before the signal arrived. On the thread itself.
    pub fn was_resumed(&self) -> bool {
        self.resumed.load(Relaxed)
    }

    /// Keeps an address for the walker, for its handlers on this thread. On the thread itself.
    pub fn keep_for_walker(&self, address: *mut c_void) {
        self.of_walker.store(address, Release);
    }

    /// What [`keep_for_walker`](Self::keep_for_walker) kept last; null if nothing. Async-signal-safe.
    pub fn kept_for_walker(&self) -> *mut c_void {
        self.of_walker.load(Acquire)
    }

    /// Its JNI environment.
    pub fn env(&self) -> EnvAddress {
        EnvAddress(self.env.load(Relaxed))
    }

    /// Its kernel id; 0 if the thread has ended.
    pub fn tid(&self) -> i32 {
        self.tid.load(Acquire)
    }

    /// The bounds of the thread's stack; empty if they are not known.
    pub fn stack_bounds(&self) -> StackBounds {
        let range = self.stack_start.load(Relaxed)..self.stack_end.load(Relaxed);
        // SAFETY: `begin` took them apart.
        unsafe { StackBounds::from_range(range) }
    }

    /// Sets the thread's `java.lang.Thread`.
    pub fn set_object(&self, object: Option<Global>) {
        let object = object.map_or(ptr::null_mut(), Global::into_raw);
        self.object.store(object, Release);
    }

    /// Shows the thread's `java.lang.Thread` to `look`, if it is known. The caller is the thread
    /// itself, or holds the list of live threads, so that the thread cannot end (see
    /// [`super::threads::Threads::with_live`]).
    pub(super) fn with_object<T>(&self, look: impl FnOnce(Ref<'_>) -> T) -> Option<T> {
        // SAFETY: what `set_object` stored; nobody gives it back before the thread ends.
        let object = unsafe { Global::from_raw(self.object.load(Acquire)) }?;
        Some(look(object.get()))
    }
}

/// A thread that cannot end, because the list of live threads is locked.
#[derive(Copy, Clone)]
pub struct Live<'a> {
    state: &'static ThreadState,
    _locked: std::marker::PhantomData<&'a ()>,
}

impl Live<'_> {
    /// The thread of this state. The caller prevents the thread's end.
    pub(super) fn new(state: &'static ThreadState) -> Self {
        Live {
            state,
            _locked: std::marker::PhantomData,
        }
    }

    /// The thread's state.
    pub fn state(self) -> &'static ThreadState {
        self.state
    }

    /// A local reference to the thread's `java.lang.Thread`, if that is known.
    pub fn object<'e>(self, env: Env<'e>) -> Option<Local<'e>> {
        self.state.with_object(|object| env.local_of(object))?
    }
}

impl Own {
    /// The next random number.
    pub fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(GOLDEN);
        self.random.set(state);
        mix(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_pass_in_half_of_the_time_to_the_next_check() {
        let state = ThreadState::new(1 << 16).expect("memory");
        let passing = || {
            let mut calls = 1;
            while !state.check_is_due() {
                calls += 1;
            }
            calls
        };
        assert_eq!(passing(), 1);
        // One call a microsecond so far.
        state.skip_calls(1_000, 9_000, 64);
        assert_eq!(passing(), 4);
        // Four calls in 0.4 µs.
        state.skip_calls(1_400, 8_600, 64);
        assert_eq!(passing(), 43);
        state.skip_calls(1_410, 8_590, 64);
        assert_eq!(passing(), 64);
        // The time has come.
        state.skip_calls(10_000, 0, 64);
        assert_eq!(passing(), 1);
    }
}
