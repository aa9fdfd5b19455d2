//! An instant of a thread that runs one instruction at a time: its stack, what the walker answered, and what else is done there
//! ([`AtInstant`]).

use crate::jvm::os::trap::Next;
use crate::sampling::sample::Sample;
use crate::truth::interrupted::Interrupted;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use std::io;

/// Deeper stacks are left alone.
pub const MOST_CALLS: usize = 1 << 10;

/// How many instants wait for their judgement at most.
pub const WAITING: usize = 1 << 12;

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
    /// The calls that have not returned, the oldest first.
    pub calls: Vec<Call>,
    /// How many frames at the end of the walk are those of the calls, all of which were known at the instant.
    pub of_calls: usize,
    /// Where the walker has crashed: its program counter.
    pub crashed: Option<usize>,
    /// What the walker answered, and the evidence at the instant.
    pub sample: Sample,
}

impl Instant {
    /// Memory for an instant.
    pub fn new() -> io::Result<Instant> {
        Ok(Instant {
            key: 0,
            tid: 0,
            place: Place::default(),
            interpreted: Interpreted::No,
            calls: Vec::with_capacity(MOST_CALLS),
            of_calls: 0,
            crashed: None,
            sample: Sample::new()?,
        })
    }

    /// Copies into the memory that is there. Async-signal-safe.
    pub fn copy_calls(&mut self, calls: &[Call]) {
        self.calls.clear();
        self.calls
            .extend_from_slice(&calls[..calls.len().min(self.calls.capacity())]);
    }
}

/// A thread that steps, at an instruction in the code cache.
pub struct Reached<'a> {
    /// The thread.
    pub thread: Interrupted<'a>,
    /// Where the thread is.
    pub place: &'a Place,
    /// What the interpreter does.
    pub interpreted: Interpreted,
    /// The calls that have not returned, the oldest first.
    pub calls: &'a [Call],
}

/// What is done at each instant.
pub trait AtInstant: Send {
    /// A thread that steps is at an instruction in the code cache, and its calls are known. Returns how it steps on.
    /// Async-signal-safe.
    fn reach(&mut self, at: &Reached<'_>) -> Next;
}
