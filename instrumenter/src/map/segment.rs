//! What rewritten code is made of.

use super::window::HookKind;

/// What a segment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Original code, moved as a whole.
    Code,
    /// Code written anew for the one original instruction.
    Fixed,
    Hook(HookKind),
    /// The rest of a [`HookKind::Caught`], behind its call: belongs to its window.
    Resume,
}

/// A stretch of rewritten code, up to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) new: u16,
    pub(crate) old: u16,
    pub(crate) kind: Kind,
}
