//! The ranges of hooks.

use super::bci::RewrittenBci;

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
