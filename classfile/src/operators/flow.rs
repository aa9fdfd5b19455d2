//! Where the thread goes on after an instruction.

/// Which instruction runs after one that does not throw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next one.
    Next,
    /// The next one, or the branch's target.
    Conditional,
    /// The branch's target: `goto`.
    Jump,
    /// The start of a subroutine or what follows its call: `jsr`, `ret`.
    Subroutine,
    /// One of a switch's targets.
    Switch,
    /// One of the caller.
    Return,
    /// That of a handler: `athrow`.
    Throw,
}

impl Flow {
    /// Whether only a branch leads to the instruction behind.
    pub const fn ends(self) -> bool {
        !matches!(self, Flow::Next | Flow::Conditional)
    }
}
