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

use crate::agent::{Agent, guard};
use crate::hooks;
use crate::jvm::asgct::CallFrame;
use crate::jvm::jvmti::{Capability, JMethodId, Jvmti, RawEnv};
use crate::truth::threads::{ThreadState, stack_bytes};
use crate::truth::trace_stack::TraceStack;
use jni_sys::{JNIEnv, jclass, jobject};
use oracle::trace::Frame;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// So many trace stacks are made at once: one mapping each would exceed the kernel's limit.
const SLAB: usize = 64;

/// Deeper virtual threads are counted as dropped. Many may live, each with its own.
const MOST_STACK_BYTES: usize = 1 << 20;

/// What is known of virtual threads, in a VM that has them.
#[derive(Default)]
pub struct VirtualThreads {
    enter_special: AtomicUsize,
    run_continuation: AtomicUsize,
    run: AtomicUsize,
    free: Mutex<Vec<&'static TraceStack>>,
}

impl VirtualThreads {
    /// Asks for the events; `None` if the VM has no virtual threads. In the OnLoad phase.
    ///
    /// Without virtual threads in the program the capability changes nothing: it is asked for
    /// in `VirtualThread`'s own methods only.
    pub fn enable(jvmti: &Jvmti) -> Option<VirtualThreads> {
        let mounted = jvmti.extension_event(c"com.sun.hotspot.events.VirtualThreadMount")?;
        let unmounted = jvmti.extension_event(c"com.sun.hotspot.events.VirtualThreadUnmount")?;
        jvmti
            .add_capabilities(&[Capability::SupportVirtualThreads])
            .ok()?;
        jvmti.set_extension_event(mounted, mount).ok()?;
        jvmti.set_extension_event(unmounted, unmount).ok()?;
        Some(VirtualThreads::default())
    }

    /// Remembers the methods by which mounting is recognised, if `class` has them.
    pub fn learn(&self, jvmti: &Jvmti, class: jclass, methods: &[JMethodId]) {
        if self.enter_special.load(Relaxed) != 0 && self.run.load(Relaxed) != 0 {
            return;
        }
        let Ok(signature) = jvmti.class_signature(class) else {
            return;
        };
        let landmarks: &[_] = match &*signature {
            "Ljdk/internal/vm/Continuation;" => &[("enterSpecial", None, &self.enter_special)],
            "Ljava/lang/VirtualThread;" => &[
                ("runContinuation", None, &self.run_continuation),
                ("run", Some("(Ljava/lang/Runnable;)V"), &self.run),
            ],
            _ => return,
        };
        for &method in methods {
            let Ok((name, descriptor)) = jvmti.method_name(method) else {
                continue;
            };
            for (wanted, of, place) in landmarks {
                if name == *wanted && of.is_none_or(|of| descriptor == of) {
                    place.store(method as usize, Relaxed);
                }
            }
        }
    }

    /// Where `walk` passes from a virtual thread to its carrier.
    pub fn boundary(&self, walk: &[Frame]) -> Option<usize> {
        walk.iter().position(|frame| is(frame, &self.enter_special))
    }

    /// Whether `walk`, of a thread that carries no virtual thread, shows that one is about to
    /// be mounted, or has just been unmounted.
    pub fn is_mounting(&self, walk: &[CallFrame]) -> bool {
        walk.iter()
            .any(|&frame| is(&frame.into(), &self.run_continuation))
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

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<&'static TraceStack>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty trace stack for a new virtual thread; `None` if there is no memory.
    fn take(&self) -> Option<&'static TraceStack> {
        let mut free = self.free();
        if free.is_empty() {
            let slab = TraceStack::several(stack_bytes().min(MOST_STACK_BYTES), SLAB).ok()?;
            free.extend(slab.map(|stack| &*Box::leak(Box::new(stack))));
        }
        free.pop()
    }
}

fn is(frame: &Frame, method: &AtomicUsize) -> bool {
    frame.method.0 != 0 && frame.method.0 == method.load(Relaxed)
}

/// The calling thread's virtual thread has been mounted.
unsafe extern "C" fn mount(_: RawEnv, env: *mut JNIEnv, _: jobject) {
    guard((), || {
        let Some((agent, threads)) = parts() else {
            return;
        };
        let Some(state) = ThreadState::current().or_else(|| agent.threads.enter(env)) else {
            return;
        };
        let known = agent.jvmti.thread_local::<TraceStack>();
        // SAFETY: null, or what was stored below; trace stacks live for good.
        let mut stack = unsafe { known.as_ref() };
        if stack.is_none() {
            stack = threads.take();
            let stored = stack.is_some_and(|stack| agent.jvmti.set_thread_local(stack).is_ok());
            if !stored {
                threads.free().extend(stack.take());
            }
        }
        match stack {
            Some(stack) => {
                if let Some(light) = &agent.light {
                    light.show(state, false);
                }
                state.carry(Some(stack));
            }
            None => lose(agent),
        }
    });
}

/// The calling thread's virtual thread is about to be unmounted.
unsafe extern "C" fn unmount(_: RawEnv, _: *mut JNIEnv, _: jobject) {
    guard((), || {
        let (Some(agent), Some(state)) = (Agent::get(), ThreadState::current()) else {
            return;
        };
        state.carry(None);
        if let Some(light) = &agent.light {
            light.show(state, true);
        }
    });
}

/// The calling thread's virtual thread ends; it has been unmounted for the last time.
pub unsafe extern "system" fn end(_: RawEnv, env: *mut JNIEnv, _: jobject) {
    guard((), || {
        let Some((agent, threads)) = parts() else {
            return;
        };
        let stack = agent.jvmti.thread_local::<TraceStack>();
        // SAFETY: null, or what `mount` stored; trace stacks live for good.
        let Some(stack) = (unsafe { stack.as_ref() }) else {
            // Where the VM has no continuations a virtual thread is a platform thread.
            return crate::events::end_thread(agent, env);
        };
        _ = agent.jvmti.set_thread_local::<TraceStack>(std::ptr::null());
        if agent.config.hooks.is_on()
            && let Some(state) = ThreadState::current()
        {
            hooks::end_virtual_thread(agent, state, stack, env);
        }
        stack.clear();
        threads.free().push(stack);
    });
}

fn parts() -> Option<(&'static Agent, &'static VirtualThreads)> {
    let agent = Agent::get()?;
    Some((agent, agent.virtual_threads.as_ref()?))
}

/// Without memory the hooks of a virtual thread would mix with the carrier's.
fn lose(agent: &Agent) {
    let reason = "no memory for the trace stack of a virtual thread".to_owned();
    agent
        .records
        .write(&oracle::record::Record::Invalid(reason));
}
