//! GetThreadListStackTraces: JVMTI's walker of chosen threads at one instant.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::gst::converted;
use super::walker::{Walker, WalksOther};
use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::Jvmti;

/// The JVMTI environment.
struct GstList(Jvmti);

/// Every VM has this walker.
pub fn find(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
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
