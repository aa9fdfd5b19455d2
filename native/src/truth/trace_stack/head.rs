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
    /// What hooks in Java may do.
    pub(super) gate: AtomicU32,
    /// An entry below the lowest entry. Nothing was checked there, and no method has its id.
    ground: Entry,
}

/// The words before entries that do not exist. The depth is above the gate, so that hooks in Java do nothing.
#[derive(Debug)]
pub struct Unusable(Head);

impl Unusable {
    /// Such words.
    pub const fn new() -> Unusable {
        let ground = Entry {
            hook: AtomicU32::new(0),
            checked: AtomicU32::new(0),
        };
        Unusable(Head {
            depth: AtomicU32::new(1),
            gate: AtomicU32::new(0),
            ground,
        })
    }

    /// The address of the entries for hooks in Java.
    pub fn entries_address(&self) -> usize {
        ptr::from_ref(&self.0).addr() + size_of::<Head>()
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
