//! The interpreter at an instant.

/// What is known of the interpreter at an instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Interpreted {
    /// The frame at the frame pointer is whole. Its method.
    Whole(usize),
    /// A frame is being built, or was removed. The content of the register that has the method where a
    /// frame is being built.
    InPart(usize),
    /// The program counter is not in the interpreter.
    #[default]
    No,
}
