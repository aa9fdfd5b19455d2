//! One sample: what the signal handler leaves for the sampler.

use crate::jvm::asgct::CallFrame;
use crate::jvm::java_thread::Anchor;
use crate::jvm::os::reserved::Reserved;
use crate::layers::at_check::MAX_FRAMES;
use crate::sampling::stack_top::StackTop;
use crate::truth::trace_stack::StackCopy;
use hotspot::arch::Registers;
use oracle::tally::Drop;
use oracle::trace::Frame;
use std::io;

/// What became of the target.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The walker returned this many frames, or an error code.
    Walked(i32),
    /// Another thread than the target got the signal: the target has ended.
    OtherThread,
}

/// One sample.
pub struct Sample {
    /// What became of the target.
    pub outcome: Outcome,
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
    /// The registers of the interrupted code.
    pub registers: Registers,
    /// What lies at the stack pointer.
    pub stack_top: StackTop,
    frames: Reserved<CallFrame>,
}

impl Sample {
    /// An empty sample.
    pub fn new() -> io::Result<Sample> {
        Ok(Sample {
            outcome: Outcome::OtherThread,
            stack: StackCopy::new(MAX_FRAMES)?,
            carrier: StackCopy::new(MAX_FRAMES)?,
            carried: false,
            copied: Ok(()),
            anchor: None,
            registers: Registers::default(),
            stack_top: StackTop::EMPTY,
            frames: Reserved::new(MAX_FRAMES)?,
        })
    }

    /// Where the walker writes, and how many frames fit.
    pub fn buffer(&mut self) -> (*mut CallFrame, i32) {
        (self.frames.start().as_ptr(), MAX_FRAMES as i32)
    }

    /// The frames that the walker wrote, top first.
    pub fn walk(&self) -> impl Iterator<Item = Frame> {
        let count = match self.outcome {
            Outcome::Walked(count) => count.clamp(0, MAX_FRAMES as i32) as usize,
            Outcome::OtherThread => 0,
        };
        // SAFETY: the walker wrote so many.
        let frames = unsafe { std::slice::from_raw_parts(self.frames.start().as_ptr(), count) };
        frames.iter().map(|&frame| frame.into())
    }
}
