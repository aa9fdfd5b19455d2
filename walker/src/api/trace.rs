//! AsyncGetStackTrace.

use crate::api::abi::{
    CallTrace, INCLUDE_C_FRAMES, JAVA_TRACE, NO_FRAME, NO_TOP_JAVA_FRAME, UNKNOWN_TRACE,
};
use crate::api::context;
use crate::memory::Live;
use crate::vm::Vm;
use crate::walk::Walk;
use crate::walk::frame::{Failure, Frame};
use std::ffi::{c_int, c_void};

/// See `profile2.h`.
///
/// # Safety
/// `trace` must be null, or have room for `depth` frames; `ucontext` must be null, or a context
/// that a signal handler of the calling thread was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn AsyncGetStackTrace(
    trace: *mut CallTrace,
    depth: c_int,
    ucontext: *mut c_void,
    options: u32,
) {
    // SAFETY: as the caller promised.
    let Some(trace) = (unsafe { trace.as_mut() }) else {
        return;
    };
    let frames = trace.frames;
    let store = |at: usize, vm: &Vm, memory: &Live<'_>, frame: &Frame| {
        let id = frame
            .method
            .and_then(|method| method.id(&vm.methods, memory));
        // SAFETY: `at` is below `depth`, and the caller promised room for so many.
        unsafe { frames.add(at).write(frame.to_call_frame(id.unwrap_or(0))) };
    };
    let result = context::with_vm(|vm, memory| {
        // SAFETY: as the caller promised.
        let mut walk = unsafe { context::walk(vm, memory, ucontext, options)? };
        let depth = usize::try_from(depth).unwrap_or(0);
        fill(&mut walk, depth, options, |at, frame| {
            store(at, vm, &memory, frame)
        })
    });
    let (num_frames, kind) = match result.unwrap_or(Err(Failure::NotReady)) {
        Ok(0) if depth <= 0 => (NO_FRAME, UNKNOWN_TRACE),
        Ok(0) => (NO_TOP_JAVA_FRAME, JAVA_TRACE),
        Ok(count) => (c_int::try_from(count).unwrap_or(c_int::MAX), JAVA_TRACE),
        Err(failure) => (failure.code(), failure.kind()),
    };
    trace.num_frames = num_frames;
    trace.kind = kind;
}

/// Walks at most `depth` of the frames that are asked for; their number.
fn fill(
    walk: &mut Walk<'_>,
    depth: usize,
    options: u32,
    mut store: impl FnMut(usize, &Frame),
) -> Result<usize, Failure> {
    let with_others = options & INCLUDE_C_FRAMES != 0;
    let mut count = 0;
    while count < depth {
        let Some(frame) = walk.next_frame()? else {
            break;
        };
        if with_others || frame.is_of_method() {
            store(count, &frame);
            count += 1;
        }
    }
    Ok(count)
}
