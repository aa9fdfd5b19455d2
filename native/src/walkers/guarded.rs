//! Walks in which a walker may crash.
//!
//! Threads that run one instruction at a time ask at each instruction, and a walker may crash there as it may in any
//! profiler. The process goes on, so that the other instructions are judged too. A walk from an altered context ends the
//! process if it crashes: the run is there to see that.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{WalksAltered, WalksInterrupted};
use crate::jvm::os::signal::ContextCopy;
use crate::jvm::os::trap::guarded;
use crate::truth::interrupted::Interrupted;

/// Asks `walker`. A crash is the answer [`hotspot::walkers::CRASHED`], with the program counter of the crash.
/// Async-signal-safe.
pub fn walk_guarded(
    walker: &dyn WalksInterrupted,
    thread: Interrupted<'_>,
    into: &mut FrameBuffer,
) -> (Walk, Option<usize>) {
    let tid = thread.state().tid();
    // SAFETY: a walker in a handler may find any thread in any state, so it takes no lock and no memory. What it
    // notes in the VM's thread it clears itself.
    match unsafe { guarded(tid, || walker.walk(thread, into)) } {
        Ok(walk) => (walk, None),
        Err(pc) => {
            walker.clean_up(thread);
            into.clear();
            (Err(ErrorCode(hotspot::walkers::CRASHED)), Some(pc))
        }
    }
}

/// Asks `walker` from a context that was altered. Async-signal-safe, as far as the walker is.
pub fn walk_altered(
    walker: &dyn WalksAltered,
    thread: Interrupted<'_>,
    context: &mut ContextCopy,
    options: u32,
    into: &mut FrameBuffer,
) -> Walk {
    // SAFETY: none can be shown. Who sets `Config::altered` wants to know whether the process survives.
    unsafe { walker.walk_altered(thread, context, options, into) }
}
