//! The safepoint queue.

use crate::api::abi::{GUESS_INLINED, INCLUDE_C_FRAMES, NO_TOP_JAVA_FRAME};
use crate::api::context::{self, Trace};
use crate::api::iterator::Iterator;
use crate::layout::Vm;
use crate::queue::elements::{Element, Refusal};
use crate::queue::helper::{Entry, Helper, Process};
use crate::queue::mark::Mark;
use crate::queue::room::Room;
use crate::queue::stack::Stack;
use crate::walk::frame::Failure;
use jni_sys::JNIEnv;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// `ASGST_Queue`.
pub type Queue = Entry<Handlers>;

/// `ASGST_Handler`.
pub type Handler = unsafe extern "C" fn(*mut Iterator<'_>, *mut c_void, *mut c_void);

/// `ASGST_OnQueueSafepointHandler`.
pub type OnQueue = unsafe extern "C" fn(*const Queue, *mut Iterator<'_>, *mut c_void);

/// `ASGST_QueueSizeInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default)]
pub struct SizeInfo {
    /// Elements that wait.
    pub size: c_int,
    /// The largest number of elements.
    pub capacity: c_int,
    /// Attempts to enqueue since the last elements were taken to be processed.
    pub attempts: c_int,
}

/// `ASGST_ENQUEUE_NO_QUEUE`, `ASGST_ENQUEUE_FULL_QUEUE` and `ASGST_ENQUEUE_OTHER_ERROR`.
const NO_QUEUE: c_int = -5;
const FULL_QUEUE: c_int = -6;
const OTHER_ERROR: c_int = -7;

/// The largest capacity.
const MOST: c_int = 1 << 20;

/// What is called for the elements of a queue.
pub struct Handlers {
    each: Option<(Handler, UserPointer)>,
    before: Option<Around>,
    after: Option<Around>,
}

/// What is called before or after.
#[derive(Copy, Clone)]
struct Around {
    options: u32,
    with_iterator: bool,
    handler: OnQueue,
    argument: UserPointer,
}

/// A pointer that is passed through.
#[derive(Copy, Clone)]
struct UserPointer(*mut c_void);

// SAFETY: the user is told which thread gets it.
unsafe impl Send for UserPointer {}

static HELPER: OnceLock<Option<&'static Helper<Handlers>>> = OnceLock::new();

fn helper() -> Option<&'static Helper<Handlers>> {
    *HELPER.get()?
}

impl Process for Handlers {
    fn wants_stack(&self) -> bool {
        let mut around = [self.before, self.after].into_iter().flatten();
        around.any(|around| around.with_iterator)
    }

    fn process(&self, entry: &Queue, stack: &Stack<'_>) {
        let around = |around: Option<Around>| {
            let Some(around) = around else { return };
            let walk = || {
                stack
                    .walk()
                    .map(|walk| Trace::of_walk(walk, around.options))
            };
            let mut iterator = around.with_iterator.then(|| Iterator::of_stack(walk()));
            let iterator = iterator
                .as_mut()
                .map_or(std::ptr::null_mut(), std::ptr::from_mut);
            // SAFETY: the iterator lives as long as the call; the rest is the user's.
            unsafe { (around.handler)(entry, iterator, around.argument.0) };
        };
        // Without elements only the capacity changes.
        let is_noticed = entry.queue.size().count > 0;
        around(self.before.filter(|_| is_noticed));
        entry.queue.process(stack.is_final(), |element, frames| {
            let Some((handler, argument)) = self.each else {
                return;
            };
            let mut iterator = match element.mark.kept(frames) {
                Some(frames) => Iterator::of_frames(frames),
                None => {
                    let rest = stack.below(&element.mark);
                    Iterator::of_sample(&element.mark, rest, entry.options)
                }
            };
            // SAFETY: the iterator lives as long as the call; the rest is the user's.
            unsafe { handler(&mut iterator, argument.0, element.argument) };
        });
        around(self.after.filter(|_| is_noticed));
    }
}

/// See `profile2.h`.
///
/// # Safety
/// `env` must be the JNI environment of a live thread, and the calling thread attached, in the live phase.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_RegisterQueue(
    env: *mut JNIEnv,
    size: c_int,
    options: c_int,
    fun: Option<Handler>,
    argument: *mut c_void,
) -> *const Queue {
    if env.is_null() || Vm::get().is_none() {
        return std::ptr::null();
    }
    let handlers = Handlers {
        each: fun.map(|fun| (fun, UserPointer(argument))),
        before: None,
        after: None,
    };
    // SAFETY: as the caller promised.
    let added = unsafe {
        let helper = *HELPER.get_or_init(|| Helper::start(env));
        helper.and_then(|helper| helper.add(env, capacity(size), options.cast_unsigned(), handlers))
    };
    added.unwrap_or(std::ptr::null())
}

/// See `profile2.h`.
///
/// # Safety
/// `env` must be the JNI environment of the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_DeregisterQueue(env: *mut JNIEnv, queue: *const Queue) -> bool {
    // SAFETY: as the caller promised.
    helper().is_some_and(|helper| unsafe { helper.remove(env, queue) })
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null, or a queue of the calling thread or of one that stands still; `ucontext` must be null, or a context
/// that a signal handler of this thread was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_Enqueue(
    queue: *const Queue,
    ucontext: *mut c_void,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promised.
    let Some(queue) = (unsafe { queue.as_ref() }) else {
        return NO_QUEUE;
    };
    let pushed = queue.queue.push(|room| {
        // SAFETY: as the caller promised.
        let (kind, mark) = unsafe { mark(ucontext, queue.options, Some(queue), room)? };
        Ok((kind, element(mark, argument)))
    });
    let answer = match pushed {
        Ok(kind) => 1 + c_int::from(kind),
        Err(Refusal::Full) => FULL_QUEUE,
        Err(Refusal::Appending) => OTHER_ERROR,
        // There is nothing to process.
        Err(Refusal::Unwalkable(failure)) => return failure.code(),
    };
    if let Some(helper) = helper() {
        helper.ring();
    }
    answer
}

/// See `profile2.h`.
///
/// # Safety
/// `ucontext` must be null, or a context that a signal handler of the calling thread was given; `element` must be
/// null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_GetEnqueuableElement(
    ucontext: *mut c_void,
    element: *mut PublicElement,
) -> c_int {
    // SAFETY: as the caller promised.
    unsafe {
        match mark(ucontext, 0, None, &mut Room::none()) {
            Ok(_) if element.is_null() => NO_TOP_JAVA_FRAME,
            Ok((kind, mark)) => {
                element.write(PublicElement {
                    place: mark.place(),
                    argument: std::ptr::null_mut(),
                });
                1 + c_int::from(kind)
            }
            Err(failure) => failure.code(),
        }
    }
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null, or a queue of the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_GetQueueElement(
    queue: *const Queue,
    n: c_int,
) -> *mut PublicElement {
    // SAFETY: as the caller promised.
    let queue = unsafe { queue.as_ref() };
    let element = queue.and_then(|queue| queue.queue.element(n as isize));
    // A public element is the start of an element.
    element.map_or(std::ptr::null_mut(), <*mut Element>::cast)
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null, or a queue of the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_ResizeQueue(queue: *const Queue, size: c_int) {
    // SAFETY: as the caller promised.
    if let Some(queue) = unsafe { queue.as_ref() } {
        queue.queue.want_capacity(capacity(size));
        if let Some(helper) = helper() {
            helper.ring();
        }
    }
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_GetQueueSizeInfo(queue: *const Queue) -> SizeInfo {
    // SAFETY: as the caller promised.
    let Some(queue) = (unsafe { queue.as_ref() }) else {
        return SizeInfo::default();
    };
    let size = queue.queue.size();
    SizeInfo {
        size: size.count as c_int,
        capacity: size.capacity as c_int,
        attempts: size.attempts as c_int,
    }
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_SetOnQueueProcessingStart(
    queue: *const Queue,
    options: c_int,
    offer_iterator: bool,
    before: Option<OnQueue>,
    argument: *mut c_void,
) {
    let before = around(options, offer_iterator, before, argument);
    // SAFETY: as the caller promised.
    change(unsafe { queue.as_ref() }, |handlers| {
        handlers.before = before
    });
}

/// See `profile2.h`.
///
/// # Safety
/// `queue` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_SetOnQueueProcessingEnd(
    queue: *const Queue,
    options: c_int,
    offer_iterator: bool,
    end: Option<OnQueue>,
    argument: *mut c_void,
) {
    let after = around(options, offer_iterator, end, argument);
    // SAFETY: as the caller promised.
    change(unsafe { queue.as_ref() }, |handlers| handlers.after = after);
}

/// The part of an element that C sees.
#[repr(C)]
#[derive(Debug)]
pub struct PublicElement {
    place: [usize; 3],
    argument: *mut c_void,
}

fn element(mark: Mark, argument: *mut c_void) -> Element {
    Element {
        place: mark.place(),
        argument,
        mark,
    }
}

/// The kind of the trace, and the mark of the stack, whose frames go into `room`: of the thread of `queue`, or of the calling
/// thread.
///
/// # Safety
/// `ucontext` must be null, or a context that a signal handler of this thread was given. If it is not the calling one, the thread
/// must stand still.
unsafe fn mark(
    ucontext: *const c_void,
    options: u32,
    queue: Option<&Queue>,
    room: &mut Room,
) -> Result<(u8, Mark), Failure> {
    // A queue has Java stacks alone.
    let options = options & (INCLUDE_C_FRAMES | GUESS_INLINED);
    let marked = context::with_vm(|vm, memory| {
        let own = vm.threads.get(&memory);
        let another = queue.map(|queue| queue.thread(vm));
        let another = another.filter(|&thread| own != Some(thread));
        // SAFETY: as the caller promised.
        let trace = unsafe {
            match another {
                Some(thread) => Trace::of_stopped(vm, memory, thread, ucontext, options)?,
                None => Trace::of_context(vm, memory, ucontext, options)?,
            }
        };
        let kind = trace.kind;
        let with_c = options & INCLUDE_C_FRAMES != 0;
        Ok((kind, Mark::of(trace.into_walk(), with_c, room)?))
    });
    marked.unwrap_or(Err(Failure::NotReady))
}

fn around(
    options: c_int,
    with_iterator: bool,
    handler: Option<OnQueue>,
    argument: *mut c_void,
) -> Option<Around> {
    Some(Around {
        options: options.cast_unsigned(),
        with_iterator,
        handler: handler?,
        argument: UserPointer(argument),
    })
}

fn change(queue: Option<&Queue>, change: impl FnOnce(&mut Handlers)) {
    if let Some((queue, helper)) = queue.zip(helper()) {
        helper.change(queue, change);
    }
}

fn capacity(size: c_int) -> usize {
    size.clamp(0, MOST) as usize
}
