//! The entries of a trace stack.

use oracle::trace::HookId;
use std::sync::atomic::AtomicU32;

/// In the `hook` of an entry: an exception has left the frame above, and no hook of this frame has
/// run since. No hook id has this bit.
pub const LEAVING: u32 = 1 << 31;

/// The hook in the word of an entry.
pub fn hook_of(word: u32) -> HookId {
    HookId(word & !LEAVING)
}

/// One hooked frame.
#[repr(C)]
#[derive(Debug)]
pub struct Entry {
    /// The frame's [`HookId`], perhaps marked as [`LEAVING`].
    pub hook: AtomicU32,
    /// How many of `frames` belong to the nearest checked frame at or below this entry.
    pub checked: AtomicU32,
}
