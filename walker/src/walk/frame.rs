//! What a walk yields, and why it may fail.

use crate::vm::method::Method;

/// A frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// What it is of.
    pub kind: FrameKind,
    /// The level that its code was compiled at; 0 for interpreted code, -1 for none.
    pub level: i8,
    /// The method, if it is of one.
    pub method: Option<Method>,
    /// The BCI, where there is one and it is known.
    pub bci: Option<u16>,
    /// How much is known of a compiled frame.
    pub certainty: Certainty,
    /// Where the physical frame stands, or goes on.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its frame pointer; 0 if that is not known.
    pub fp: usize,
}

/// What a frame is of.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum FrameKind {
    /// A Java method.
    Java,
    /// A Java method that is inlined to the next frame.
    Inlined,
    /// A native method.
    Native,
    /// Code that the VM generated, but not from a method.
    Stub,
    /// C or C++.
    Cpp,
}

/// How much is known of a frame. Compiled code has a debug info record at calls, polls and
/// implicit checks only; between them, nothing tells what is inlined.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Certainty {
    /// Whether the BCI is known.
    pub bci: bool,
    /// Whether no inlined frame can be missing above this one.
    pub inlined: bool,
}

impl Certainty {
    /// All is known.
    pub const FULL: Certainty = Certainty {
        bci: true,
        inlined: true,
    };
}

/// Why there is no answer, or no further one.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// We know nothing about the VM: it was not learnt about, or it is not one that we can walk.
    NotReady,
    /// No Java thread runs here.
    NoThread,
    /// The thread has begun to end.
    Ending,
    /// The thread has not begun to run Java code.
    UnsafeState,
    /// The thread has no Java frame.
    NoJavaFrame,
    /// The code at the top cannot be walked at this instruction.
    Top,
    /// A caller cannot be walked.
    Caller,
    /// What was read makes no sense, or is gone.
    Torn,
    /// The frames are being exchanged for others: those of compiled code for interpreted ones.
    Deoptimizing,
}
