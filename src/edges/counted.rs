//! The different edges of all stacks, with their numbers. A recording of millions of edges has some
//! thousand different ones, so the stacks need to be read only once before they are judged.

use recordings::{Frame, Stack};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// A thread: its file, and the file's name for the thread.
pub type Thread = (usize, String);

/// A frame and the method above it.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pair {
    /// The caller.
    pub lower: Frame,
    /// The method of the callee.
    pub upper: u32,
}

/// The lowest frame of a thread.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Bottom {
    /// The frame.
    pub lowest: Frame,
    /// The thread, if the file names the thread.
    pub thread: Option<Thread>,
    /// How the thread started, if the file says so.
    pub told: Option<&'static str>,
}

/// How often each part of the stacks was sampled.
#[derive(Debug, Default)]
pub struct Counted {
    /// Stacks.
    pub stacks: u64,
    /// Top frames.
    pub tops: HashMap<Frame, u64, FxBuildHasher>,
    /// Frames and their callers.
    pub pairs: HashMap<Pair, u64, FxBuildHasher>,
    /// Lowest frames that are to be judged.
    pub bottoms: HashMap<Bottom, u64>,
}

impl Counted {
    /// Counts the edges of a stack of the file with this number.
    pub fn add(&mut self, stack: &Stack<'_>, file: usize) {
        let times = times(stack);
        self.stacks = self.stacks.saturating_add(times);
        add(self.tops.entry(stack.frames[0]).or_default(), times);
        for pair in pairs(stack.frames) {
            add(self.pairs.entry(pair).or_default(), times);
        }
        for (bottom, times) in bottoms(stack, file) {
            add(self.bottoms.entry(bottom).or_default(), times);
        }
    }
}

fn add(sum: &mut u64, times: u64) {
    *sum = sum.saturating_add(times);
}

/// How often the stack was sampled.
pub fn times(stack: &Stack<'_>) -> u64 {
    let times = stack.samples.iter().map(|samples| samples.times);
    times.fold(0, u64::saturating_add)
}

/// Each frame below another, with the method above, from the top down.
pub fn pairs(frames: &[Frame]) -> impl Iterator<Item = Pair> {
    frames.windows(2).map(|two| Pair {
        lower: two[1],
        upper: two[0].method,
    })
}

/// The lowest frame in each thread, as far as it is to be judged, and how often it was sampled.
pub fn bottoms(stack: &Stack<'_>, file: usize) -> impl Iterator<Item = (Bottom, u64)> {
    let lowest = stack.frames[stack.frames.len() - 1];
    let judged = stack.samples.iter();
    let judged = judged.filter(move |samples| samples.start.is_some() || stack.whole);
    judged.map(move |samples| {
        let thread = samples.thread.clone().map(|thread| (file, thread));
        let told = samples.start;
        let bottom = Bottom {
            lowest,
            thread,
            told,
        };
        (bottom, samples.times)
    })
}
