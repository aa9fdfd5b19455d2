//! The words that hooks in Java share with the agent.

use super::entry::Entry;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// The words before the entries. Hooks in Java reach them from the address of the entries: the constants of both classes
/// `StackwitnessTrace` in `java-fixtures/java/trace` are these offsets.
#[repr(C, align(8))]
#[derive(Debug)]
pub(super) struct Head {
    /// How many entries there are; beyond the capacity they are counted but not stored.
    pub(super) depth: AtomicU32,
    /// Of light hooks that ask: the depth up to which they may run in Java. Of exact hooks: how many of them may.
    pub(super) limit: AtomicU32,
    /// Plain hooks take the index of an entry modulo this, plus 1.
    pub(super) mask: AtomicU32,
    /// All bits in which the ids or depths that plain pops found differed from those that they had to find.
    pub(super) mismatches: AtomicU32,
    /// An entry below the lowest entry. Nothing was checked there, and no method has its id.
    ground: Entry,
}

// An exact hook in Java changes depth and limit with one store of an aligned long.
const _: () = assert!(offset_of!(Head, depth).is_multiple_of(size_of::<u64>()));
const _: () = assert!(offset_of!(Head, limit) == offset_of!(Head, depth) + size_of::<u32>());
// Hooks in Java read the entry below the one that they write, also below the lowest.
const _: () = assert!(offset_of!(Head, ground) + size_of::<Entry>() == size_of::<Head>());
const _: () = assert!(offset_of!(Unusable, entry) == size_of::<Head>());

/// Entries for threads without a trace stack. The depth is above the limit, so that hooks in Java that ask do nothing.
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
                limit: AtomicU32::new(0),
                mask: AtomicU32::new(0),
                mismatches: AtomicU32::new(0),
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
