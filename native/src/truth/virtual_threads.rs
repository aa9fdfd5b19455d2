//! Virtual threads: a trace stack each, kept while they come and go on their carriers.
//!
//! While a virtual thread is mounted its frames lie on the carrier's stack, above a frame of
//! `Continuation.enterSpecial`. The VM tells when one has been mounted and when it is about
//! to be unmounted (`VirtualThreadMount` and `VirtualThreadUnmount`, events of HotSpot's own;
//! `jvmtiThreadState.cpp`), always between the call and the end of `enterSpecial`. There the
//! carrier's hooks change over from its own trace stack to that of the virtual thread, and
//! back. So
//!
//! * while one is carried, `enterSpecial` is on the stack: what lies above it is the virtual
//!   thread's, what lies below the carrier's, and each has its truth;
//! * where `enterSpecial` is on the stack and none is carried, a mount or unmount is under
//!   way (or a continuation of another kind): nothing is claimed.
//!
//! Methods that switch threads are not hooked, so that hooks stay balanced within each part.

use super::thread_state::ThreadState;
use super::trace_stack::TraceStack;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{Capability, JMethodId, Jvmti, ThreadCallback, class_name};
use crate::jvm::os::thread::StackBounds;
use oracle::trace::Frame;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many trace stacks are made at once: one mapping each would exceed the kernel's limit.
const SLAB: usize = 64;

/// The class of the JDK's carriers.
const CARRIER: &str = "jdk/internal/misc/CarrierThread";

/// Deeper virtual threads are counted as dropped. Many may live, each with its own.
const MOST_STACK_BYTES: usize = 1 << 20;

/// What is known of virtual threads, in a VM that has them.
#[derive(Default)]
pub struct VirtualThreads {
    enter_special: AtomicUsize,
    run_continuation: AtomicUsize,
    run: AtomicUsize,
    /// Whether a thread carries virtual threads that is none of the JDK's carriers.
    has_other_carriers: AtomicBool,
    free: Mutex<Vec<&'static TraceStack>>,
}

impl VirtualThreads {
    /// Asks for the events, which call `mount` and `unmount`; `None` if the VM has no virtual threads. In the OnLoad phase.
    ///
    /// Without virtual threads in the program the capability changes nothing: it is asked for
    /// in `VirtualThread`'s own methods only.
    pub fn enable(
        jvmti: Jvmti,
        mount: ThreadCallback,
        unmount: ThreadCallback,
    ) -> Option<VirtualThreads> {
        let mounted = jvmti.extension_event(c"com.sun.hotspot.events.VirtualThreadMount")?;
        let unmounted = jvmti.extension_event(c"com.sun.hotspot.events.VirtualThreadUnmount")?;
        jvmti
            .add_capabilities(&[Capability::SupportVirtualThreads])
            .ok()?;
        jvmti.enable_extension_event(mounted, mount).ok()?;
        jvmti.enable_extension_event(unmounted, unmount).ok()?;
        Some(VirtualThreads::default())
    }

    /// Remembers the methods by which mounting is recognised, if `class` has them.
    pub fn learn(&self, jvmti: Jvmti, class: Ref<'_>, methods: &[JMethodId]) {
        if self.enter_special.load(Relaxed) != 0 && self.run.load(Relaxed) != 0 {
            return;
        }
        let Ok(signature) = jvmti.class_signature(class) else {
            return;
        };
        let landmarks: &[_] = match class_name(&signature) {
            "jdk/internal/vm/Continuation" => &[("enterSpecial", None, &self.enter_special)],
            "java/lang/VirtualThread" => &[
                ("runContinuation", None, &self.run_continuation),
                ("run", Some("(Ljava/lang/Runnable;)V"), &self.run),
            ],
            _ => return,
        };
        for &method in methods {
            let Ok(known) = jvmti.method_name(method) else {
                continue;
            };
            for (wanted, of, place) in landmarks {
                if known.name == *wanted && of.is_none_or(|of| known.descriptor == of) {
                    place.store(method.0, Relaxed);
                }
            }
        }
    }

    /// Where `walk` passes from a virtual thread to its carrier.
    pub fn boundary(&self, walk: &[Frame]) -> Option<usize> {
        walk.iter().position(|frame| is(frame, &self.enter_special))
    }

    /// Whether the thread of `state` may be about to mount a virtual thread, or to unmount one: only
    /// carriers are. The JDK's own are known by their class, others once one has mounted a virtual
    /// thread (a scheduler of the program's own, which JDK 21 to 25 offer to reflection alone).
    pub fn may_carry(&self, state: &ThreadState) -> bool {
        state.own.may_carry.get() || self.has_other_carriers.load(Relaxed)
    }

    /// The calling thread, whose `java.lang.Thread` is `thread`, starts.
    pub fn begin_thread(&self, jvmti: Jvmti, env: Env<'_>, state: &ThreadState, thread: Ref<'_>) {
        let class = env.class_of(thread);
        let signature = class.and_then(|class| jvmti.class_signature(class.get()).ok());
        let is_carrier = |signature: String| class_name(&signature) == CARRIER;
        state.own.may_carry.set(signature.is_none_or(is_carrier));
    }

    /// Whether `walk`, of a thread that carries no virtual thread, shows that one is about to
    /// be mounted, or has just been unmounted.
    pub fn is_mounting(&self, walk: &[Frame]) -> bool {
        walk.iter().any(|frame| is(frame, &self.run_continuation))
    }

    /// Whether GetStackTrace's answer `gst` for the calling thread is not the stack that the
    /// active trace stack stands for: while a thread is about to be mounted or unmounted, or
    /// while a virtual thread acts as its carrier for a moment.
    pub fn is_switching(&self, state: &ThreadState, gst: &[Frame]) -> bool {
        let has = |method| gst.iter().any(|frame| is(frame, method));
        match state.carrier_stack() {
            Some(_) => !has(&self.run) || has(&self.run_continuation),
            None => gst.is_empty() || has(&self.run) || has(&self.run_continuation),
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<&'static TraceStack>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The virtual thread of the calling thread, whose state this is, has been mounted: its trace stack, made if this is its
    /// first sign of life; `None` if there is no memory.
    pub fn mounted(&self, jvmti: Jvmti, state: &ThreadState) -> Option<&'static TraceStack> {
        if !state.own.may_carry.get() {
            self.has_other_carriers.store(true, Relaxed);
        }
        if let Some(known) = known(jvmti) {
            return Some(known);
        }
        let stack = self.take()?;
        match jvmti.set_thread_local(Some(stack)) {
            Ok(()) => Some(stack),
            Err(_) => {
                self.free().push(stack);
                None
            }
        }
    }

    /// The calling thread's virtual thread ends: its trace stack, for [`Self::give_back`]; `None`
    /// if it never was mounted, because the VM has no continuations.
    pub fn ended(&self, jvmti: Jvmti) -> Option<&'static TraceStack> {
        let stack = known(jvmti)?;
        _ = jvmti.set_thread_local::<TraceStack>(None);
        Some(stack)
    }

    /// The trace stack of a virtual thread that has ended is free for the next one.
    pub fn give_back(&self, stack: &'static TraceStack) {
        stack.clear();
        self.free().push(stack);
    }

    /// An empty trace stack for a new virtual thread; `None` if there is no memory.
    fn take(&self) -> Option<&'static TraceStack> {
        let mut free = self.free();
        if free.is_empty() {
            let bytes = StackBounds::of_this_thread().size();
            let slab = TraceStack::several(bytes.min(MOST_STACK_BYTES), SLAB).ok()?;
            free.extend(slab.map(|stack| &*Box::leak(Box::new(stack))));
        }
        free.pop()
    }
}

/// The trace stack of the calling thread's virtual thread, if it has one.
fn known(jvmti: Jvmti) -> Option<&'static TraceStack> {
    // SAFETY: trace stacks are all that is ever set.
    unsafe { jvmti.thread_local() }
}

fn is(frame: &Frame, method: &AtomicUsize) -> bool {
    frame.method.0 != 0 && frame.method.0 == method.load(Relaxed)
}
