//! The frames that a walk yields, and why a walk may fail.

use crate::layout::certainty::Certainty;
use crate::layout::method::Methods;
use crate::layout::sites::StampedScope;
use crate::layout::stamp::{Stamp, Stamped};
use hotspot::layout::method::Method;
use hotspot::memory::Memory;
use vm::memory::Live;

/// A frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// The kind of its code.
    pub kind: FrameKind,
    /// The tier of its code; 0 for interpreted code, -1 for other code.
    pub level: i8,
    /// The method, if the frame has one; its stamp only if the walk knows it already.
    pub method: Option<Stamped>,
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

impl Frame {
    /// A frame of which the method and the BCI are known: the id, and -1 in a native method.
    pub fn of_id(memory: &impl Memory, id: usize, location: i64) -> Option<Frame> {
        // An id is the address of a word that has the method.
        let method = Method(memory.word(id).filter(|&method| method != 0)?);
        let native = Frame::of_native(method);
        Some(match u16::try_from(location) {
            Err(_) => native,
            bci => Frame {
                kind: FrameKind::Java,
                bci: bci.ok(),
                ..native
            },
        })
    }

    /// This frame, with the method and the BCI of `scope`.
    #[inline]
    pub fn of_scope(self, scope: &StampedScope) -> Frame {
        Frame {
            method: Some(scope.method),
            bci: u16::try_from(scope.bci).ok(),
            ..self
        }
    }

    /// Whether the frame is of this method.
    pub fn is_of(&self, method: Method) -> bool {
        self.method.is_some_and(|own| own.method() == method)
    }

    /// Gives the method its stamp.
    #[inline(always)]
    pub fn stamp(&mut self, methods: &Methods, memory: &Live<'_>) {
        if let Some(method) = &mut self.method
            && method.stamp() == Stamp::NONE
        {
            *method = methods.stamped(memory, method.method());
        }
    }

    /// Whether methods that are inlined into it may be missing above it.
    pub fn may_miss_inlined(&self) -> bool {
        matches!(self.certainty, Certainty::MethodAlone | Certainty::Guessed)
    }

    /// A frame of a native method, of which no more is known.
    pub fn of_native(method: Method) -> Frame {
        Frame {
            kind: FrameKind::Native,
            level: -1,
            method: Some(Stamped::unstamped(method)),
            bci: None,
            certainty: Certainty::Full,
            pc: 0,
            sp: 0,
            fp: 0,
        }
    }
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
    /// Of an enqueued sample: the thread has returned to the frames below the top since.
    Left,
    /// Of an enqueued sample: the virtual thread has left its carrier since.
    Unmounted,
    /// Of an enqueued sample: the thread could not be suspended.
    NotSuspended,
}
