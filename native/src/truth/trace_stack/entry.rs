//! The entries of a trace stack.

use oracle::trace::HookId;
use std::sync::atomic::AtomicU32;

/// In the `hook` of an entry: an exception has left the frame above, and no hook of this frame has
/// run since. No hook id has this bit.
pub const LEAVING: u32 = 1 << 31;

/// In the `hook` of an entry: the entry was there when the trace stack came into doubt last. No hook id has this bit.
pub const OLD: u32 = 1 << 30;

/// The hook in the word of an entry.
pub fn hook_of(word: u32) -> HookId {
    HookId(word & !(LEAVING | OLD))
}

/// One hooked frame.
#[repr(C)]
#[derive(Debug)]
pub struct Entry {
    /// The frame's [`HookId`], perhaps marked as [`LEAVING`] or [`OLD`].
    pub hook: AtomicU32,
    /// How many of `frames` belong to the nearest checked frame at or below this entry.
    pub checked: AtomicU32,
}

impl Entry {
    /// An entry of no method.
    pub const fn new() -> Entry {
        Entry {
            hook: AtomicU32::new(0),
            checked: AtomicU32::new(0),
        }
    }
}
