//! BCIs before and after the rewriting, the segments of rewritten code, and the ranges of hooks in it.

/// The purpose of a hook.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HookKind {
    /// Pushes the method.
    Entry,
    /// Pushes the method, then checks.
    EntryAndCheck,
    /// Pops the method before a return.
    Exit,
    /// Repairs the trace stack where the method catches an exception.
    Caught,
    /// Pops the method when an exception leaves it.
    Thrown,
}

/// The exact range of one hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HookWindow {
    /// What the hook is for.
    pub kind: HookKind,
    /// Its first BCI.
    pub start: RewrittenBci,
    /// The first BCI behind it.
    pub end: RewrittenBci,
    /// The `invokestatic` of its call. For both entry hooks, this is the call of `push`.
    pub call: RewrittenBci,
}

/// A BCI of the original method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OriginalBci(pub u32);

/// A BCI of the rewritten method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RewrittenBci(pub u32);

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
