//! AsyncGetStackTrace: the walker of the crate `walker`, asked as a profiler asks it (`profile2.h`).

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{Walker, WalksAltered, WalksHere, WalksInterrupted};
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::jvm::os::signal::{ContextCopy, with_own_context};
use crate::truth::interrupted::Interrupted;
use jni_sys::JNIEnv;
use oracle::trace::{Frame, Location, MethodKey};
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr;
use walker::api::ASGST_Initialize;
use walker::api::abi::{
    CallFrame, CallTrace, FRAME_INLINED, FRAME_NATIVE, GUESS_INLINED, INCLUDE_C_FRAMES,
    INCLUDE_NON_JAVA_THREADS, LIKELY, MAY_MISS_INLINED, NO_BCI,
};
use walker::api::trace::AsyncGetStackTrace;

/// No frames of C, and no threads without Java code: what AsyncGetCallTrace gives.
const OPTIONS: u32 = 0;

type EntryPoint = unsafe extern "C" fn(*mut CallTrace, c_int, *mut c_void, u32);

/// `ASGST_Initialize` of `profile2.h`.
type Initialize = unsafe extern "C" fn(*mut JNIEnv) -> c_int;

/// The walker.
struct Asgst {
    entry_point: EntryPoint,
    /// Where the walker needs preparation.
    initialize: Option<Initialize>,
}

/// The library is a part of the agent, so the walker is there in every VM. Where it cannot read the VM, it answers
/// `ASGST_NOT_READY`.
pub fn find(_: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(Asgst {
        entry_point: AsyncGetStackTrace,
        initialize: Some(ASGST_Initialize),
    }))
}

/// The walker at `symbol`, with the function that prepares it, if it has one.
///
/// # Safety
/// They must be functions of these signatures.
pub unsafe fn at(symbol: *mut c_void, initialize: Option<*mut c_void>) -> Box<dyn Walker> {
    // SAFETY: as the caller promised.
    unsafe {
        Box::new(Asgst {
            entry_point: transmute::<*mut c_void, EntryPoint>(symbol),
            initialize: initialize.map(|it| transmute::<*mut c_void, Initialize>(it)),
        })
    }
}

impl Asgst {
    /// Asks for frames with these options. Returns how many there are.
    ///
    /// # Safety
    /// `context` must be a context of the calling thread, and `frames` must have room for so many frames.
    unsafe fn ask(
        &self,
        frames: *mut CallFrame,
        room: usize,
        context: *mut c_void,
        options: u32,
    ) -> Result<usize, ErrorCode> {
        let mut trace = CallTrace {
            num_frames: 0,
            kind: 0,
            frames,
            frame_info: ptr::null_mut(),
        };
        // SAFETY: as the caller promised.
        unsafe { (self.entry_point)(&mut trace, room as c_int, context, options) };
        let count = match trace.num_frames {
            count if count > 0 => count as usize,
            code => return Err(ErrorCode(code)),
        };
        if self.initialize.is_none() {
            // SAFETY: so many frames were written; without options they are of methods alone.
            unsafe { clear_flags(frames, count.min(room)) };
        }
        Ok(count)
    }

    /// # Safety
    /// `context` must be a context of the calling thread.
    unsafe fn walk(&self, context: *mut c_void, into: &mut FrameBuffer) -> Walk {
        // SAFETY: the walker writes as many frames as it says; without options, frames of methods alone.
        unsafe {
            into.walk(
                |frames, room| match self.ask(frames, room, context, OPTIONS)? {
                    // The stack may have more frames.
                    count if count == room => Ok(count),
                    count => Ok(without_likely(frames, count)),
                },
                |frame| converted(frame),
            )
        }
    }
}

/// Flags are ours. Where JEP 435 alone is followed, they are padding, in which anything may stand.
///
/// # Safety
/// So many frames must have been written. The kinds up to `FRAME_NATIVE` are of methods; other frames have no flags.
unsafe fn clear_flags(frames: *mut CallFrame, count: usize) {
    for at in 0..count {
        // SAFETY: as the caller promised; all frames begin with their kind.
        unsafe {
            let frame = &mut *frames.add(at);
            if frame.kind <= FRAME_NATIVE {
                frame.java_frame.flags = 0;
            }
        }
    }
}

/// Leaves out the frames that are only likely, which are at the top. Returns how many frames are left of `count`.
///
/// # Safety
/// So many frames must have been written.
unsafe fn without_likely(frames: *mut CallFrame, count: usize) -> usize {
    // SAFETY: as the caller promised; a stack has frames of methods alone.
    unsafe {
        let likely = (0..count)
            .take_while(|&at| is_likely_inlined(*frames.add(at)))
            .count();
        ptr::copy(frames.add(likely), frames, count - likely);
        count - likely
    }
}

/// Whether the frame is of an inlined method, and only likely.
///
/// # Safety
/// The frame must be of a method.
pub(super) unsafe fn is_likely_inlined(frame: CallFrame) -> bool {
    // SAFETY: as the caller promised.
    let frame = unsafe { frame.java_frame };
    frame.kind == FRAME_INLINED && frame.flags & u32::from(LIKELY) != 0
}

/// The frame as judges see it.
///
/// # Safety
/// The frame must be of a method.
pub(super) unsafe fn converted(frame: CallFrame) -> Frame {
    // SAFETY: as the caller promised.
    let frame = unsafe { frame.java_frame };
    let has = |flag: u8| frame.flags & u32::from(flag) != 0;
    Frame {
        method: MethodKey(frame.method_id),
        location: match frame.kind {
            FRAME_NATIVE => Location::NATIVE,
            // The methods of likely frames are not compared.
            _ if has(MAY_MISS_INLINED) || has(LIKELY) => Location::UNRECORDED,
            _ if has(NO_BCI) => Location::UNKNOWN,
            _ => Location(frame.bci.into()),
        },
    }
}

impl Walker for Asgst {
    fn name(&self) -> &'static str {
        "asgst"
    }

    fn begin(&self, env: Env<'_>) {
        if let Some(initialize) = self.initialize {
            // SAFETY: the calling thread's environment, in the live phase. Without success all walks fail.
            unsafe { initialize(env.address().0 as *mut _) };
        }
    }

    fn in_handler(&self) -> Option<&dyn WalksInterrupted> {
        Some(self)
    }

    fn altered(&self) -> Option<&dyn WalksAltered> {
        Some(self)
    }

    fn here(&self) -> Option<&dyn WalksHere> {
        Some(self)
    }
}

impl WalksInterrupted for Asgst {
    fn walk(&self, thread: Interrupted<'_>, into: &mut FrameBuffer) -> Walk {
        // SAFETY: the context of the interrupted thread, which runs here.
        unsafe { Asgst::walk(self, thread.context().as_raw(), into) }
    }
}

impl WalksAltered for Asgst {
    unsafe fn walk_altered(
        &self,
        _: Interrupted<'_>,
        context: &mut ContextCopy,
        options: u32,
        into: &mut FrameBuffer,
    ) -> Walk {
        let options = options & (INCLUDE_C_FRAMES | INCLUDE_NON_JAVA_THREADS | GUESS_INLINED);
        // Frames of C are no frames of methods, and nobody reads the frames.
        let empty = |_: CallFrame| Frame {
            method: MethodKey(0),
            location: Location::UNKNOWN,
        };
        // SAFETY: the walker writes as many frames as it says. It promises to survive any context.
        unsafe {
            into.walk(
                |frames, room| self.ask(frames, room, context.as_raw(), options),
                empty,
            )
        }
    }
}

impl WalksHere for Asgst {
    fn walk(&self, _: Env<'_>, into: &mut FrameBuffer) -> Walk {
        // SAFETY: the context is this thread's.
        with_own_context(|context| unsafe { Asgst::walk(self, context, into) })
    }
}
