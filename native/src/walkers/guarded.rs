//! Walks of threads that run one instruction at a time. At each instruction a walker may crash, as it may in any
//! profiler. Here the process goes on, so that the other instructions are judged too.

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::WalksInterrupted;
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
    // notes in the VM's thread is not used outside of walks, but by collectors that process stacks while threads
    // run.
    match unsafe { guarded(tid, || walker.walk(thread, into)) } {
        Ok(walk) => (walk, None),
        Err(pc) => {
            into.clear();
            (Err(ErrorCode(hotspot::walkers::CRASHED)), Some(pc))
        }
    }
}
