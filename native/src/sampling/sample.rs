//! One sample: what the signal handler leaves for the sampler.

use super::stack_top::StackTop;
use crate::jvm::java_thread::Anchor;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::{FrameBuffer, MAX_FRAMES, Walk};
use hotspot::arch::Registers;
use oracle::tally::Drop;
use std::io;

/// What became of the target.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The walker was asked: the frames are in the buffer, or there is an error code.
    Walked(Walk),
    /// The VM has no walker to ask. The rest of the sample is there.
    NoWalker,
    /// Another thread than the target got the signal: the target has ended. The rest of the sample
    /// is older.
    OtherThread,
}

/// One sample.
pub struct Sample {
    /// What became of the target.
    pub outcome: Outcome,
    /// What the walker wrote.
    pub frames: FrameBuffer,
    /// The trace stack at the instant of the walk.
    pub stack: StackCopy,
    /// That of the carrier, if the trace stack is a virtual thread's.
    pub carrier: StackCopy,
    /// Whether it is.
    pub carried: bool,
    /// Whether they could be copied.
    pub copied: Result<(), Drop>,
    /// The thread's state and anchor, where the VM describes them.
    pub anchor: Option<Anchor>,
    /// Where the thread was interrupted.
    pub registers: Registers,
    /// What lies at the stack pointer.
    pub stack_top: StackTop,
}

impl Sample {
    /// An empty sample.
    pub fn new() -> io::Result<Sample> {
        Ok(Sample {
            outcome: Outcome::OtherThread,
            frames: FrameBuffer::new(MAX_FRAMES)?,
            stack: StackCopy::new(MAX_FRAMES)?,
            carrier: StackCopy::new(MAX_FRAMES)?,
            carried: false,
            copied: Ok(()),
            anchor: None,
            registers: Registers::default(),
            stack_top: StackTop::EMPTY,
        })
    }
}
