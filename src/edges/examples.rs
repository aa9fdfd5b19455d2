//! The stacks with impossible edges. The files are read once more for them, if there are any.

use super::counted::{Pair, bottoms, pairs, times};
use super::judging::Judging;
use super::summary::Summary;
use oracle::edge::Finding;
use recordings::{Frame, Method, Note, Sink, Stack};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// Counts the stacks with impossible edges, and keeps one stack for each edge.
pub struct Examples<'e, 'j> {
    /// Judges the lowest frames again.
    judging: &'e mut Judging<'j>,
    /// The number of the file that is read, from 0.
    pub file: usize,
    tops: HashMap<Frame, Finding, FxBuildHasher>,
    pairs: HashMap<Pair, Finding, FxBuildHasher>,
    summary: &'e mut Summary,
}

impl<'e, 'j> Examples<'e, 'j> {
    /// Looks for the impossible edges of the summary.
    pub fn new(judging: &'e mut Judging<'j>, summary: &'e mut Summary) -> Examples<'e, 'j> {
        let (mut tops, mut pairs) = (HashMap::default(), HashMap::default());
        for (finding, lower, upper) in summary.impossible() {
            match (lower, upper) {
                (Some(lower), Some(upper)) => {
                    pairs.insert(Pair { lower, upper }, finding);
                }
                (Some(top), None) => {
                    tops.insert(top, finding);
                }
                // The start of a thread depends on the thread.
                (None, _) => {}
            }
        }
        Examples {
            judging,
            file: 0,
            tops,
            pairs,
            summary,
        }
    }
}

impl Sink for Examples<'_, '_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        self.judging.number(method)
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: Stack<'_>) {
        let frames = stack.frames;
        let top = frames[0];
        let mut bad = false;
        if let Some(&finding) = self.tops.get(&top) {
            self.summary.example((finding, Some(top), None), frames);
            bad = true;
        }
        for pair in pairs(frames) {
            if let Some(&finding) = self.pairs.get(&pair) {
                let edge = (finding, Some(pair.lower), Some(pair.upper));
                self.summary.example(edge, frames);
                bad = true;
            }
        }
        let mut bad_bottoms = 0u64;
        for (bottom, times) in bottoms(&stack, self.file) {
            let finding = self.judging.bottom(&bottom);
            if let Some(finding) = finding.filter(|finding| finding.is_impossible()) {
                let edge = (finding, None, Some(bottom.lowest.method));
                self.summary.example(edge, frames);
                bad_bottoms = bad_bottoms.saturating_add(times);
            }
        }
        let stacks = if bad { times(&stack) } else { bad_bottoms };
        let sum = &mut self.summary.impossible_stacks;
        *sum = sum.saturating_add(stacks);
    }

    fn note(&mut self, _: Note) {}
}
