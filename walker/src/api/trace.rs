//! AsyncGetStackTrace.

use crate::api::abi::{CallTrace, JAVA_TRACE, NO_TOP_JAVA_FRAME};
use crate::api::context::{self, Trace};
use crate::layout::Vm;
use crate::walk::frame::{Failure, Frame};
use std::ffi::{c_int, c_void};
use vm::memory::Live;

/// See `profile2.h`.
///
/// # Safety
/// `trace` must be null, or its frames null or as many as `depth`; `ucontext` must be null, or a context
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
            .and_then(|method| vm.methods.id(memory, method.method()));
        // SAFETY: `at` is below `depth`, and the caller promised room for this many frames.
        unsafe { frames.add(at).write(frame.to_call_frame(id.unwrap_or(0))) };
    };
    let room = if frames.is_null() { 0 } else { depth };
    let depth = usize::try_from(room).unwrap_or(0);
    let result = context::with_vm(|vm, memory| {
        // SAFETY: as the caller promised.
        let mut walk = unsafe { Trace::of_context(vm, memory, ucontext, options)? };
        for at in 0..depth {
            match walk.next_frame()? {
                Some(frame) => store(at, vm, &memory, &frame),
                None => return Ok((at, walk.kind)),
            }
        }
        Ok((depth, walk.kind))
    });
    let (num_frames, kind) = match result.unwrap_or(Err(Failure::NotReady)) {
        Ok((0, _)) if depth > 0 => (NO_TOP_JAVA_FRAME, JAVA_TRACE),
        Ok((count, kind)) => (c_int::try_from(count).unwrap_or(c_int::MAX), kind),
        Err(failure) => (failure.code(), failure.kind()),
    };
    trace.num_frames = num_frames;
    trace.kind = kind;
}
