//! Virtual threads: a trace stack each, kept while they come and go on their carriers.
//!
//! While a virtual thread is mounted its frames lie on the carrier's stack, above a frame of
//! `Continuation.enterSpecial`. The VM sends events when a virtual thread has been mounted and when
//! it will be unmounted (`VirtualThreadMount` and `VirtualThreadUnmount`, events of HotSpot's own;
//! `jvmtiThreadState.cpp`), always between the call and the end of `enterSpecial`. At these events
//! the carrier's hooks change from its own trace stack to the virtual thread's trace stack, and
//! back. So
//!
//! * while a virtual thread is carried, `enterSpecial` is on the stack: the frames above belong to
//!   the virtual thread, the frames below to the carrier, and each part has its truth;
//! * where `enterSpecial` is on the stack and no virtual thread is carried, a mount or unmount is
//!   under way (or a continuation of another kind runs), and the agent claims nothing.
//!
//! Methods that switch threads are not hooked, so that hooks stay balanced within each part.

use super::thread_state::ThreadState;
use super::trace_stack::TraceStack;
use crate::jvm::jni::{Env, Local, Ref};
use crate::jvm::jvmti::{
    Capability, GetVirtualThread, JMethodId, Jvmti, ThreadCallback, class_name,
};
use crate::jvm::os::thread::StackBounds;
use crate::locks::lock;
use oracle::trace::{Frame, Location, MethodKey};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, MutexGuard};

/// The number of trace stacks that are made at once. One mapping for each would exceed the kernel's
/// limit.
const SLAB: usize = 64;

/// The class of the JDK's carriers.
const CARRIER: &str = "jdk/internal/misc/CarrierThread";

/// The limit of the trace stacks. Deeper virtual threads are counted as dropped, because many
/// virtual threads may live at the same time.
const MOST_STACK_BYTES: usize = 1 << 20;

/// The agent's knowledge of virtual threads, in a VM that has them.
#[derive(Default)]
pub struct VirtualThreads {
    enter_special: AtomicUsize,
    enter: AtomicUsize,
    run_continuation: AtomicUsize,
    run: AtomicUsize,
    /// Further methods that a virtual thread runs, and its carrier does not: those around `run`, and those that
    /// leave the carrier.
    around: [AtomicUsize; 3],
    /// Whether a thread that is not one of the JDK's carriers carries virtual threads.
    has_other_carriers: AtomicBool,
    get_virtual_thread: Option<GetVirtualThread>,
    free: Mutex<Vec<&'static TraceStack>>,
}

impl VirtualThreads {
    /// Enables the events, which call `mount` and `unmount`; `None` if the VM has no virtual
    /// threads. To be called in the OnLoad phase.
    ///
    /// In a program without virtual threads the capability changes nothing, because only the
    /// methods of `VirtualThread` look at it.
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
        Some(VirtualThreads {
            get_virtual_thread: jvmti.get_virtual_thread(),
            ..VirtualThreads::default()
        })
    }

    /// Remembers the methods that show a mount, if `class` has them.
    pub fn learn(&self, jvmti: Jvmti, class: Ref<'_>, methods: &[JMethodId]) {
        let mut all = [&self.enter_special, &self.enter, &self.run]
            .into_iter()
            .chain(&self.around);
        if all.all(|method| method.load(Relaxed) != 0) {
            return;
        }
        let Ok(signature) = jvmti.class_signature(class) else {
            return;
        };
        let landmarks: &[_] = match class_name(&signature) {
            "jdk/internal/vm/Continuation" => &[
                ("enterSpecial", None, &self.enter_special),
                ("enter", None, &self.enter),
            ],
            "java/lang/VirtualThread" => &[
                ("runContinuation", None, &self.run_continuation),
                ("run", Some("(Ljava/lang/Runnable;)V"), &self.run),
                ("yieldContinuation", None, &self.around[0]),
                ("tryYield", None, &self.around[1]),
            ],
            "java/lang/VirtualThread$VThreadContinuation$1" => {
                &[("run", Some("()V"), &self.around[2])]
            }
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

    /// The method whose frame is between those of a virtual thread and those of its carrier, if it is known.
    pub fn enter_special(&self) -> Option<MethodKey> {
        let method = self.enter_special.load(Relaxed);
        (method != 0).then_some(MethodKey(method))
    }

    /// The index at which `walk` passes from a virtual thread to its carrier.
    pub fn boundary(&self, walk: &[Frame]) -> Option<usize> {
        walk.iter().position(|frame| is(frame, &self.enter_special))
    }

    /// Whether `walk` has a virtual thread's stack down to its first frame, and says of the top that inlined frames may
    /// be missing: the compiler may inline all hooked methods there.
    pub fn is_whole_but_inlined(&self, walk: &[Frame]) -> bool {
        let is_flagged = |frame: &Frame| frame.location == Location::UNRECORDED;
        let of_virtual = self.boundary(walk).map(|at| &walk[..at]);
        let first = of_virtual.and_then(|frames| frames.last());
        walk.first().is_some_and(is_flagged) && first.is_some_and(|frame| is(frame, &self.enter))
    }

    /// Whether the thread of `state` may be about to mount or unmount a virtual thread. Only
    /// carriers do so. The JDK's own carriers are known by their class. Other carriers are known
    /// once a thread has mounted a virtual thread (a scheduler of the program, which JDK 21 to 25
    /// offer to reflection alone).
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

    /// Whether `walk`, of a thread that carries no virtual thread, shows that a virtual thread will
    /// be mounted at once, or has just been unmounted.
    pub fn is_mounting(&self, walk: &[Frame]) -> bool {
        walk.iter().any(|frame| is(frame, &self.run_continuation))
    }

    /// Whether the answer `gst` for a platform thread is the stack of a virtual thread that acts as its carrier
    /// for a moment, or a part of the stack. A part was seen once in 466,000 checks on JDK 21 (GetStackTrace:
    /// `yieldContinuation` and `tryYield` alone), and once in 3,500 checks of GetAllStackTraces on JDK 25.
    pub fn is_of_virtual_thread(&self, gst: &[Frame]) -> bool {
        let inside = || [&self.run].into_iter().chain(&self.around);
        gst.iter()
            .any(|frame| inside().any(|method| is(frame, method)))
    }

    /// Whether GetStackTrace's answer `gst` for the calling thread is another stack than that of
    /// the active trace stack: while a virtual thread is mounted or unmounted, or while it acts as
    /// its carrier for a moment.
    pub fn is_switching(&self, state: &ThreadState, gst: &[Frame]) -> bool {
        match state.carrier_stack() {
            Some(_) => !self.is_whole(gst),
            None => gst.is_empty() || self.is_of_virtual_thread(gst) || self.is_mounting(gst),
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<&'static TraceStack>> {
        lock(&self.free)
    }

    /// The calling thread, whose state this is, has mounted a virtual thread: the virtual thread's
    /// trace stack, which is made at the first mount; `None` if there is no memory.
    pub fn mounted(&self, jvmti: Jvmti, state: &ThreadState) -> Option<&'static TraceStack> {
        if !state.own.may_carry.get() {
            self.has_other_carriers.store(true, Relaxed);
        }
        if let Some(known) = known(jvmti, None) {
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

    /// The virtual thread that `carrier` carries, if its trace stack has the address `stack`. Not for a thread that
    /// mounts or unmounts a virtual thread.
    pub fn carried_by<'e>(
        &self,
        jvmti: Jvmti,
        env: Env<'e>,
        carrier: Ref<'_>,
        stack: usize,
    ) -> Option<Local<'e>> {
        let thread = self.mounted_on(jvmti, env, carrier)?;
        self.has_stack(jvmti, thread.get(), stack).then_some(thread)
    }

    /// The virtual thread that `carrier` carries now. It may leave its carrier at any time.
    pub fn mounted_on<'e>(
        &self,
        jvmti: Jvmti,
        env: Env<'e>,
        carrier: Ref<'_>,
    ) -> Option<Local<'e>> {
        self.get_virtual_thread?.carried_by(jvmti, env, carrier)
    }

    /// Whether the virtual thread `thread` has the trace stack of this address.
    pub fn has_stack(&self, jvmti: Jvmti, thread: Ref<'_>, stack: usize) -> bool {
        known(jvmti, Some(thread)).is_some_and(|known| ptr::from_ref(known).addr() == stack)
    }

    /// Whether `walk` is the whole stack of a virtual thread that is not about to mount or unmount.
    pub fn is_whole(&self, walk: &[Frame]) -> bool {
        let has = |method| walk.iter().any(|frame| is(frame, method));
        has(&self.run) && !has(&self.run_continuation)
    }

    /// The calling thread's virtual thread ends: its trace stack, for [`Self::give_back`]; `None`
    /// if the virtual thread was never mounted, because the VM has no continuations.
    pub fn ended(&self, jvmti: Jvmti) -> Option<&'static TraceStack> {
        let stack = known(jvmti, None)?;
        _ = jvmti.set_thread_local::<TraceStack>(None);
        Some(stack)
    }

    /// The trace stack of an ended virtual thread is free for another virtual thread.
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

/// The trace stack of the virtual thread (`None`: the one that the calling thread carries), if it has one.
fn known(jvmti: Jvmti, thread: Option<Ref<'_>>) -> Option<&'static TraceStack> {
    // SAFETY: trace stacks are all that is ever set.
    unsafe { jvmti.thread_local(thread) }
}

fn is(frame: &Frame, method: &AtomicUsize) -> bool {
    frame.method.0 != 0 && frame.method.0 == method.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(0),
        };
        methods.iter().map(frame).collect()
    }

    #[test]
    fn any_part_of_a_virtual_threads_stack_is_told_from_its_carriers() {
        let threads = VirtualThreads {
            run_continuation: AtomicUsize::new(1),
            run: AtomicUsize::new(2),
            around: [3, 4, 5].map(AtomicUsize::new),
            ..VirtualThreads::default()
        };
        for part in [&[2][..], &[3, 4], &[9, 5]] {
            assert!(threads.is_of_virtual_thread(&walk(part)), "{part:?}");
        }
        // A carrier's own frames, and methods without an ID while none of these methods is known.
        assert!(!threads.is_of_virtual_thread(&walk(&[1, 9])));
        assert!(!VirtualThreads::default().is_of_virtual_thread(&walk(&[0, 9])));
    }

    #[test]
    fn a_virtual_threads_stack_is_whole_down_to_the_method_that_enters() {
        let threads = VirtualThreads {
            enter_special: AtomicUsize::new(1),
            enter: AtomicUsize::new(2),
            ..VirtualThreads::default()
        };
        let judge = |methods: &[usize]| {
            let mut walk = walk(methods);
            assert!(
                !threads.is_whole_but_inlined(&walk),
                "the walker says nothing"
            );
            walk[0].location = Location::UNRECORDED;
            threads.is_whole_but_inlined(&walk)
        };
        assert!(judge(&[2, 1, 9]));
        assert!(judge(&[8, 2, 1, 9]));
        assert!(!judge(&[8, 1, 9]), "frames are missing");
        assert!(!judge(&[2, 9]), "no virtual thread");
        assert!(!judge(&[1, 2, 9]), "the carrier's frames");
    }
}
