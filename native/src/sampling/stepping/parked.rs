//! The calls of threads that are in the kernel.

use super::instant::MOST_CALLS;
use crate::jvm::os::thread::StackBounds;
use crate::jvm::os::trap::crossing::CROSSINGS;
use hotspot::steps::shadow::Shadow;
use std::mem::swap;

/// What a thread knows between two of its steps.
pub struct Turn {
    /// The calls.
    pub shadow: Shadow,
    /// The stack.
    pub bounds: StackBounds,
    /// Steps since the code cache was left.
    pub outside: u32,
    /// Steps in this turn.
    pub steps: u32,
}

impl Turn {
    /// No turn has begun.
    pub fn new() -> Turn {
        Turn {
            shadow: Shadow::new(MOST_CALLS),
            bounds: StackBounds::none(),
            outside: 0,
            steps: 0,
        }
    }
}

/// The turns of threads that are in the kernel, by their crossings. The memory is made once.
pub struct Parked(Box<[Turn]>);

impl Parked {
    /// No thread is in the kernel.
    pub fn new() -> Parked {
        Parked((0..CROSSINGS).map(|_| Turn::new()).collect())
    }

    /// The thread whose `turn` it is enters the kernel in this crossing, or has come back. Async-signal-safe.
    pub fn exchange(&mut self, crossing: usize, turn: &mut Turn) {
        if let Some(parked) = self.0.get_mut(crossing) {
            swap(parked, turn);
        }
    }
}
