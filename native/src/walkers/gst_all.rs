//! GetAllStackTraces: JVMTI's walker of all threads at one instant.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::gst::converted;
use super::walker::{Walker, WalksOther};
use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::Jvmti;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
pub fn find(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
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
