//! The frames that a walk yields, and why a walk may fail.

use crate::vm::method::Method;

/// A frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// The kind of its code.
    pub kind: FrameKind,
    /// The tier of its code; 0 for interpreted code, -1 for other code.
    pub level: i8,
    /// The method, if the frame has one.
    pub method: Option<Method>,
    /// The BCI, if the frame has one and it is known.
    pub bci: Option<u16>,
    /// How much is known of a compiled frame.
    pub certainty: Certainty,
    /// The program counter of the physical frame.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its frame pointer; 0 if that is not known.
    pub fp: usize,
}

/// The kind of a frame's code.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum FrameKind {
    /// A Java method.
    Java,
    /// A Java method that is inlined into the next frame.
    Inlined,
    /// A native method.
    Native,
    /// Code that the VM generated, but not from a method.
    Stub,
    /// C or C++.
    Cpp,
}

/// How much is known of a frame. Compiled code has a debug info record at calls, polls and implicit
/// checks only; between them, nothing shows which frames are inlined.
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

/// Why a walk fails.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// The library knows nothing about the VM: `ASGST_Initialize` was not called, or the VM cannot
    /// be walked.
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
    /// The words that were read make no sense, or can no longer be read.
    Torn,
    /// The frames are being replaced: those of compiled code by interpreted frames.
    Deoptimizing,
}
