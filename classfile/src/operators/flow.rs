//! Where the thread continues after an instruction.

/// Which instruction runs after an instruction that does not throw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next instruction.
    Next,
    /// The next instruction, or the target of the branch.
    Conditional,
    /// The target of the branch: `goto`.
    Jump,
    /// The start of a subroutine, or the instruction behind its call: `jsr`, `ret`.
    Subroutine,
    /// One of the targets of a switch.
    Switch,
    /// An instruction of the caller.
    Return,
    /// An instruction of a handler: `athrow`.
    Throw,
}

impl Flow {
    /// Whether the instruction behind is reached by branches only.
    pub const fn ends(self) -> bool {
        !matches!(self, Flow::Next | Flow::Conditional)
    }
}
