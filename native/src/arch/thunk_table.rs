//! Where an architecture keeps its thunks before native methods.

use std::sync::atomic::AtomicUsize;

/// How many thunks there are: more than any program binds native methods.
pub const THUNKS: usize = 4096;

/// The thunks of an architecture: code that calls the listener and goes on to its target.
#[derive(Copy, Clone)]
pub struct ThunkTable {
    /// The address of the first.
    pub code: usize,
    /// The distance between two, in bytes.
    pub size: usize,
    /// For each the address of the function that it goes on to.
    pub targets: &'static [AtomicUsize; THUNKS],
    /// The address of the function that all call, with their first argument and their number.
    pub listener: &'static AtomicUsize,
}
