//! GetStackTrace: JVMTI's walker.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{Walker, WalksHere, WalksOther};
use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{FrameInfo, Jvmti};
use oracle::trace::{Frame, Location, MethodKey};

/// The walker's name.
pub const NAME: &str = "gst";

/// The JVMTI environment.
struct Gst(Jvmti);

/// Every VM has this walker.
pub fn find(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(Gst(jvm.jvmti)))
}

impl Gst {
    fn walk(&self, thread: Option<Ref<'_>>, into: &mut FrameBuffer) -> Walk {
        let walk = |frames: *mut FrameInfo, capacity| {
            // SAFETY: the buffer has room for this many frames, and any bytes are valid frames.
            let frames = unsafe { std::slice::from_raw_parts_mut(frames, capacity) };
            let walked = self.0.stack_trace(thread, frames);
            walked.map_err(|error| ErrorCode(-error))
        };
        // SAFETY: GetStackTrace wrote as many frames as it says.
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
        Gst::walk(self, None, into)
    }
}

impl WalksOther for Gst {
    fn walk(&self, _: Env<'_>, thread: Ref<'_>, into: &mut FrameBuffer) -> Walk {
        Gst::walk(self, Some(thread), into)
    }

    fn walks_virtual(&self) -> bool {
        true
    }
}
