//! What is done at each instant of a thread that steps.

use crate::truth::interrupted::Interrupted;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};

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
    /// A thread that steps is at an instruction in the code cache, and its calls are known. Async-signal-safe.
    fn reach(&mut self, at: &Reached<'_>);
}
