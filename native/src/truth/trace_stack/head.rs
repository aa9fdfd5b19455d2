//! The words of a trace stack: those that hooks in Java share with the agent, the entries, and the token by which a hook names
//! its entry.

use oracle::trace::HookId;
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

/// The depth before a `push`, which names the entry of the `push`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// The depth.
    pub depth: u32,
    source: Source,
}

/// The origin of a token.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Source {
    /// The hooked method kept it since its `push`, or its method has no other entry.
    Sure,
    /// It was found by a hook's id while the stack was in doubt.
    Guessed,
}

impl Token {
    /// A token that a hooked method kept, or that was found as the only entry of its method.
    pub fn sure(depth: u32) -> Token {
        let source = Source::Sure;
        Token { depth, source }
    }

    /// A token that was found in doubt.
    pub(super) fn guessed(depth: u32) -> Token {
        let source = Source::Guessed;
        Token { depth, source }
    }

    pub(super) fn is_sure(self) -> bool {
        self.source == Source::Sure
    }
}

/// What `pop` and similar hooks found, where exactly one entry should be above the token's depth.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Balance {
    /// Exactly one entry.
    Even,
    /// This many entries too many: frames have ended without `pop`.
    TooMany(u32),
    /// The method's own entry was missing.
    TooFew,
}
