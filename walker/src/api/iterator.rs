//! The frame iterator.

use crate::api::abi::{CallFrame, IteratorFrame, NO_FRAME};
use crate::api::context::{self, Trace};
use crate::layout::Vm;
use crate::queue::mark::Mark;
use crate::queue::stack::Below;
use crate::walk::Place;
use crate::walk::frame::{Failure, Frame};
use std::ffi::{c_int, c_void};
use vm::memory::Live;

/// `ASGST_Iterator`.
#[derive(Clone)]
pub struct Iterator<'a> {
    /// The top of a sample that was enqueued, and how many of its frames were given.
    top: Option<(&'a Mark, usize)>,
    /// The frames below, or why they cannot be walked.
    rest: Result<Rest<'a>, Failure>,
}

/// The frames that are not kept.
#[derive(Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "handlers of signals make iterators, and cannot allocate"
)]
enum Rest<'a> {
    Trace {
        /// Before its first frame.
        start: Trace<'a>,
        now: Trace<'a>,
    },
    /// Frames, and how many of them were given.
    Listed(&'a [Frame], usize),
}

impl<'a> Rest<'a> {
    fn of_trace(start: Trace<'a>) -> Rest<'a> {
        Rest::Trace {
            now: start.clone(),
            start,
        }
    }
}

impl<'a> Iterator<'a> {
    /// The frames of a stack, if it can be walked.
    pub(super) fn of_stack(stack: Result<Trace<'a>, Failure>) -> Iterator<'a> {
        Iterator {
            top: None,
            rest: stack.map(Rest::of_trace),
        }
    }

    /// The frames of a sample: its top, and what is below.
    pub(super) fn of_sample(
        mark: &'a Mark,
        below: Result<Below<'a>, Failure>,
        options: u32,
    ) -> Iterator<'a> {
        Iterator {
            top: Some((mark, 0)),
            rest: below.map(|below| match below {
                Below::Nothing => Rest::Listed(&[], 0),
                Below::Walk(walk) => Rest::of_trace(Trace::of_walk(walk, options)),
                Below::Listed(frames) => Rest::Listed(frames, 0),
            }),
        }
    }

    /// These frames.
    pub(super) fn of_frames(frames: &'a [Frame]) -> Iterator<'a> {
        Iterator {
            top: None,
            rest: Ok(Rest::Listed(frames, 0)),
        }
    }

    fn next_frame(&mut self) -> Result<Option<Frame>, Failure> {
        if let Some((mark, given)) = &mut self.top
            && let Some(frame) = mark.on_top(*given)
        {
            *given += 1;
            return Ok(Some(frame));
        }
        match &mut self.rest {
            Ok(Rest::Trace { now, .. }) => now.next_stamped(),
            Ok(Rest::Listed(frames, given)) => {
                let frame = frames.get(*given).copied();
                *given += usize::from(frame.is_some());
                Ok(frame)
            }
            Err(failure) => Err(*failure),
        }
    }

    /// The next frame in the layout of AsyncGetStackTrace; `None` at the end of the stack.
    pub fn next_call_frame(&mut self) -> Result<Option<CallFrame>, Failure> {
        let Some(frame) = self.next_frame()? else {
            return Ok(None);
        };
        let id = context::with_vm(|vm, memory| vm.methods.id(&memory, frame.method?.method()));
        Ok(Some(frame.to_call_frame(id.flatten().unwrap_or(0))))
    }

    fn rewind(&mut self) {
        if let Some((_, given)) = &mut self.top {
            *given = 0;
        }
        match &mut self.rest {
            Ok(Rest::Trace { start, now }) => *now = start.again(),
            Ok(Rest::Listed(_, given)) => *given = 0,
            Err(_) => {}
        }
    }
}

/// `ASGST_IteratorHandler`.
pub type IteratorHandler = unsafe extern "C" fn(*mut Iterator<'_>, *mut c_void);

/// See `profile2.h`.
///
/// # Safety
/// `ucontext` must be null, or a context that a signal handler of the calling thread was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_RunWithIterator(
    ucontext: *mut c_void,
    options: i32,
    fun: Option<IteratorHandler>,
    argument: *mut c_void,
) -> c_int {
    run(fun, argument, |vm, memory| {
        // SAFETY: as the caller promised.
        unsafe { Trace::of_context(vm, memory, ucontext, options.cast_unsigned()) }
    })
}

/// See `profile2.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ASGST_RunWithIteratorFromFrame(
    sp: *mut c_void,
    fp: *mut c_void,
    pc: *mut c_void,
    options: c_int,
    fun: Option<IteratorHandler>,
    argument: *mut c_void,
) -> c_int {
    let place = Place {
        pc: pc as usize,
        sp: sp as usize,
        fp: fp as usize,
    };
    run(fun, argument, |vm, memory| {
        Trace::of_frame(vm, memory, place, options.cast_unsigned())
    })
}

fn run(
    fun: Option<IteratorHandler>,
    argument: *mut c_void,
    trace: impl for<'a> FnOnce(&'a Vm, Live<'a>) -> Result<Trace<'a>, Failure>,
) -> c_int {
    let result = context::with_vm(|vm, memory| {
        let trace = trace(vm, memory)?;
        let kind = trace.kind;
        let mut iterator = Iterator::of_stack(Ok(trace));
        if let Some(fun) = fun {
            // SAFETY: the iterator lives as long as the call; the rest is the caller's.
            unsafe { fun(&mut iterator, argument) };
        }
        Ok(kind)
    });
    match result.unwrap_or(Err(Failure::NotReady)) {
        Ok(kind) => 1 + c_int::from(kind),
        Err(failure) => failure.code(),
    }
}

/// See `profile2.h`.
///
/// # Safety
/// `iterator` must be null or one that a handler was given, within its call; `frame` must be null
/// or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_NextFrame(
    iterator: *mut Iterator<'_>,
    frame: *mut IteratorFrame,
) -> c_int {
    // SAFETY: as the caller promised.
    let Some(iterator) = (unsafe { iterator.as_mut() }) else {
        return NO_FRAME;
    };
    match iterator.next_frame() {
        Ok(Some(next)) => {
            if !frame.is_null() {
                // SAFETY: as the caller promised.
                unsafe { frame.write(next.to_iterator_frame()) };
            }
            1
        }
        Ok(None) => NO_FRAME,
        Err(failure) => failure.code(),
    }
}

/// See `profile2.h`.
///
/// # Safety
/// As for [`ASGST_NextFrame`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_RewindIterator(iterator: *mut Iterator<'_>) {
    // SAFETY: as the caller promised.
    if let Some(iterator) = unsafe { iterator.as_mut() } {
        iterator.rewind();
    }
}

/// See `profile2.h`.
///
/// # Safety
/// As for [`ASGST_NextFrame`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_State(iterator: *mut Iterator<'_>) -> c_int {
    // SAFETY: as the caller promised.
    let Some(iterator) = (unsafe { iterator.as_ref() }) else {
        return NO_FRAME;
    };
    let mut ahead = iterator.clone();
    // SAFETY: the iterator is our own, and no frame is asked for.
    unsafe { ASGST_NextFrame(&mut ahead, std::ptr::null_mut()) }
}
