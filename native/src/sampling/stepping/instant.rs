//! An instant of a thread that runs one instruction at a time: its stack, and what the walker answered.

use crate::walkers::buffer::Walk;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use oracle::trace::Frame;

/// Deeper stacks are left alone.
pub const MOST_CALLS: usize = 1 << 10;

/// Answers with more frames are left alone.
pub const MOST_FRAMES: usize = 1 << 11;

/// How many instants wait for their judgement at most.
pub const WAITING: usize = 1 << 8;

/// An instant.
pub struct Instant {
    /// The number of the pair of stack and answer.
    pub key: u64,
    /// The kernel's id of the thread.
    pub tid: i32,
    /// Where the thread is.
    pub place: Place,
    /// What the interpreter does.
    pub interpreted: Interpreted,
    /// Of compiled code at the program counter: the number of the compilation.
    pub compile_id: i32,
    /// The calls that have not returned, the oldest first.
    pub calls: Vec<Call>,
    /// What the walker answered.
    pub walked: Walk,
    /// The walker's frames.
    pub frames: Vec<Frame>,
}

impl Instant {
    /// Memory for an instant.
    pub fn new() -> Instant {
        Instant {
            key: 0,
            tid: 0,
            place: Place::default(),
            interpreted: Interpreted::No,
            compile_id: 0,
            calls: Vec::with_capacity(MOST_CALLS),
            walked: Ok(()),
            frames: Vec::with_capacity(MOST_FRAMES),
        }
    }

    /// Copies into the memory that is there. Async-signal-safe.
    pub fn copy_stacks(&mut self, calls: &[Call], frames: &[Frame]) {
        self.calls.clear();
        self.calls
            .extend_from_slice(&calls[..calls.len().min(self.calls.capacity())]);
        self.frames.clear();
        self.frames
            .extend_from_slice(&frames[..frames.len().min(self.frames.capacity())]);
    }
}
