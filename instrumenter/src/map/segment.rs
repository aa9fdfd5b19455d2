//! The segments of rewritten code.

use super::window::HookKind;

/// The kind of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SegmentKind {
    /// Original code, moved as a whole.
    Code,
    /// Rewritten code of one original instruction.
    Fixed,
    Hook(HookKind),
    /// The rest of a [`HookKind::Caught`] behind its call. It belongs to the hook's window.
    Resume,
}

/// A segment of rewritten code, which ends at the next segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) new: u16,
    pub(crate) old: u16,
    pub(crate) kind: SegmentKind,
}
