//! Where a library returns to that generated code has called without an anchor.

use crate::jvm::remembered_code::RememberedCode;
use hotspot::arch::{Arch, Native, RETURN_ADDRESS};
use hotspot::layout::entry::Words;
use vm::memory::kernel::peek_bytes;

/// The largest number of frames of a library that are followed.
const FRAMES: usize = 16;

/// A return into generated code.
#[derive(Copy, Clone)]
pub(super) struct Return {
    /// The frame pointer of the frame that returns.
    pub frame: usize,
    /// The return address.
    pub pc: usize,
    /// The frame pointer behind the return.
    pub fp: usize,
    /// The stack pointer behind the return, where a frame ends right above its return address.
    pub sp: Option<usize>,
}

impl Return {
    /// Where the library that runs with the frame pointer `fp` returns to. Functions of the VM keep the frame pointer; others may
    /// not, and then nothing is found, or the caller of an older call.
    pub(super) fn find(cache: &RememberedCode<'_>, stack: Words<'_>, fp: usize) -> Option<Return> {
        let mut at = fp;
        for _ in 0..FRAMES {
            let place = at.wrapping_add(RETURN_ADDRESS);
            let (fp, pc) = (stack.at(at)?, stack.at(place)?);
            if cache.is_code(pc) {
                let sp = place.wrapping_add(size_of::<usize>());
                let sp = Native::CALLS_PUSH.then_some(sp);
                return Some(Return {
                    frame: at,
                    pc,
                    fp,
                    sp,
                });
            }
            if fp <= at {
                return None;
            }
            at = fp;
        }
        None
    }
}

/// Whether `pc` is the address behind a call.
pub(super) fn is_behind_call(pc: usize) -> bool {
    let before = peek_bytes(pc.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE);
    Native::is_register_call(&before) || Native::call_target(&before, pc).is_some()
}

/// Whether `pc` is the address behind a call that may lead to a library.
pub(super) fn is_behind_library_call(cache: &RememberedCode<'_>, pc: usize) -> bool {
    let before = peek_bytes(pc.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE);
    let to_library = |target| !cache.is_code(target);
    Native::is_register_call(&before) || Native::call_target(&before, pc).is_some_and(to_library)
}
