//! JVMTI's walkers: GetStackTrace of one thread, GetThreadListStackTraces of chosen threads at one instant, and
//! GetAllStackTraces of all threads at one instant.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{Walker, WalksHere, WalksOther};
use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{FrameInfo, Jvmti};
use oracle::judge::Slice;
use oracle::trace::{Frame, Location, MethodKey};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The walker's name.
pub const NAME: &str = "gst";

/// `JVMTI_ERROR_ILLEGAL_ARGUMENT`, with the sign of reports.
pub const ILLEGAL_ARGUMENT: ErrorCode = ErrorCode(-103);

/// The whole stack, as far as the buffer has room.
const WHOLE: Slice = Slice {
    start_depth: 0,
    max_frame_count: usize::MAX,
};

/// The JVMTI environment.
struct Gst(Jvmti);

/// Every VM has this walker.
pub fn find(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(Gst(jvm.jvmti)))
}

impl Gst {
    fn walk(&self, thread: Option<Ref<'_>>, slice: Slice, into: &mut FrameBuffer) -> Walk {
        let walk = |frames: *mut FrameInfo, capacity: usize| {
            let asked = slice.max_frame_count.min(capacity);
            // SAFETY: the buffer has room for this many frames, and any bytes are valid frames.
            let frames = unsafe { std::slice::from_raw_parts_mut(frames, asked) };
            let walked = self.0.stack_trace(thread, slice.start_depth, frames);
            walked.map_err(|error| ErrorCode(-error))
        };
        // SAFETY: GetStackTrace wrote as many frames as it says. If it says more than it was asked for, as only a JVM with a
        // mistake does, the rest of the buffer is the buffer's own, and any bytes are valid frames.
        unsafe { into.walk(walk, converted) }
    }
}

/// A frame of JVMTI, converted.
pub(super) fn converted(frame: FrameInfo) -> Frame {
    Frame {
        method: MethodKey(frame.method.0),
        location: Location::from_jvmti(frame.location),
    }
}

impl Walker for Gst {
    fn name(&self) -> &'static str {
        NAME
    }

    fn here(&self) -> Option<&dyn WalksHere> {
        Some(self)
    }

    fn elsewhere(&self) -> Option<&dyn WalksOther> {
        Some(self)
    }
}

impl WalksHere for Gst {
    fn walk(&self, _: Env<'_>, into: &mut FrameBuffer) -> Walk {
        Gst::walk(self, None, WHOLE, into)
    }

    fn walk_slice(&self, _: Env<'_>, slice: Slice, into: &mut FrameBuffer) -> Option<Walk> {
        Some(Gst::walk(self, None, slice, into))
    }
}

impl WalksOther for Gst {
    fn walk(&self, _: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk {
        Gst::walk(self, Some(thread), WHOLE, into)
    }

    fn walks_virtual(&self) -> bool {
        true
    }
}

/// The JVMTI environment.
struct GstList(Jvmti);

/// Every VM has this walker.
pub fn find_list(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(GstList(jvm.jvmti)))
}

impl Walker for GstList {
    fn name(&self) -> &'static str {
        "gst-list"
    }

    fn elsewhere(&self) -> Option<&dyn WalksOther> {
        Some(self)
    }
}

impl WalksOther for GstList {
    fn walk(&self, _: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk {
        let most = into.capacity();
        let copy = |frames: &[_]| into.set(frames.iter().copied().map(converted), false);
        let walked = self.0.stack_in_list(thread, most, copy);
        walked.map_err(|error| ErrorCode(-error))
    }

    fn walks_virtual(&self) -> bool {
        true
    }
}

/// The largest number of frames of all threads together that one call asks for: HotSpot sets memory
/// aside for all of them (`VM_GetAllStackTraces` in `share/prims/jvmtiEnvBase.cpp`).
const AT_ONCE: usize = 1 << 20;

/// `JVMTI_ERROR_THREAD_NOT_ALIVE`, with the sign of reports.
const NOT_ALIVE: ErrorCode = ErrorCode(-15);

/// The JVMTI environment, and the number of threads in the last answer.
struct GstAll {
    jvmti: Jvmti,
    threads: AtomicUsize,
}

/// Every VM has this walker.
pub fn find_all(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(GstAll {
        jvmti: jvm.jvmti,
        threads: AtomicUsize::new(1),
    }))
}

impl Walker for GstAll {
    fn name(&self) -> &'static str {
        "gst-all"
    }

    fn elsewhere(&self) -> Option<&dyn WalksOther> {
        Some(self)
    }
}

impl WalksOther for GstAll {
    fn walk(&self, env: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk {
        let share = AT_ONCE / self.threads.load(Relaxed).max(1);
        let most = into.capacity().min(share.max(1));
        let copy = |frames: Option<&[_]>| {
            let frames = frames.ok_or(NOT_ALIVE)?;
            into.set(frames.iter().copied().map(converted), frames.len() == most);
            Ok(())
        };
        let walked = self.jvmti.stack_among_all(env, thread, most, copy);
        let (walk, threads) = walked.map_err(|error| ErrorCode(-error))?;
        self.threads.store(threads, Relaxed);
        walk
    }

    /// GetAllStackTraces gives platform threads only.
    fn walks_virtual(&self) -> bool {
        false
    }
}
