//! The words that hooks in Java share with the agent.

use super::entry::Entry;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// The words before the entries. Hooks in Java reach them from the address of the entries.
#[repr(C, align(8))]
#[derive(Debug)]
pub(super) struct Head {
    /// How many entries there are; beyond the capacity they are counted but not stored.
    pub(super) depth: AtomicU32,
    /// What hooks in Java that ask may do.
    pub(super) gate: AtomicU32,
    /// Hooks that do not ask take the index of an entry modulo this, plus 1.
    pub(super) mask: AtomicU32,
    /// The differences between the ids, or depths, that hooks which do not ask had to find, and those that they found.
    pub(super) crooked: AtomicU32,
    /// An entry below the lowest entry. Nothing was checked there, and no method has its id.
    ground: Entry,
}

/// Entries for threads without a trace stack. The depth is above the gate, so that hooks in Java that ask do nothing.
/// The others change one entry, which nobody reads.
#[repr(C)]
#[derive(Debug)]
pub struct Unusable {
    head: Head,
    entry: Entry,
}

impl Unusable {
    /// Such entries.
    pub const fn new() -> Unusable {
        Unusable {
            head: Head {
                depth: AtomicU32::new(1),
                gate: AtomicU32::new(0),
                mask: AtomicU32::new(0),
                crooked: AtomicU32::new(0),
                ground: Entry::new(),
            },
            entry: Entry::new(),
        }
    }

    /// The address of the entries for hooks in Java.
    pub fn entries_address(&self) -> usize {
        ptr::from_ref(&self.entry).addr()
    }
}

/// What exact hooks in Java were allowed.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// How many hooks.
    pub(super) hooks: AtomicU32,
    /// The depth at which they were allowed.
    pub(super) at: AtomicU32,
}
