//! Judges stacks as they are read.

use super::gather::Thread;
use super::loose::{Loose, Spot};
use super::names::{Named, Names};
use super::summary::Summary;
use oracle::edge::{EdgeFrame, Finding, Judge, Starts, ThreadStart};
use oracle::trace::Location;
use recordings::{Method, Note, Place, Sink, Stack};

/// Judges each stack, and counts the findings.
pub struct Judging<'j> {
    /// Knows the classes.
    pub judge: &'j mut Judge,
    /// Methods without descriptors.
    pub names: &'j mut Names,
    /// The number of the file that is read, from 0.
    pub file: usize,
    /// How threads started; `None` if the files do not say.
    pub starts: Option<&'j Starts<Thread>>,
    /// Judges edges between frames that lack a descriptor or a BCI.
    pub loose: Loose,
    /// What was found.
    pub summary: Summary,
}

impl Judging<'_> {
    /// How the thread started, if this is known and the lowest frame is in the stack.
    fn start(
        &self,
        stack: &Stack<'_>,
        thread: Option<&String>,
        told: Option<&str>,
    ) -> Option<ThreadStart> {
        let told = told.map(|told| match told {
            "java" => ThreadStart::Java,
            "launcher" => ThreadStart::Launcher,
            _ => ThreadStart::Unknown,
        });
        if told.is_some() || !stack.whole {
            return told;
        }
        let known = self.starts.zip(thread);
        Some(known.map_or(ThreadStart::Unknown, |(starts, thread)| {
            starts.of(&(self.file, thread.clone()))
        }))
    }

    /// The findings on the top and on each frame with its caller.
    fn edges(&mut self, stack: &Stack<'_>, found: &mut Vec<Option<Finding>>) {
        let frames = stack.frames;
        let exact = |frame: &recordings::Frame| {
            let Named::Known(method) = Named::of(frame.method) else {
                return None;
            };
            let location = match frame.place {
                Place::Bci(bci) => Location(bci),
                Place::Native => Location::NATIVE,
                Place::Unknown(_) => return None,
            };
            Some(EdgeFrame { method, location })
        };
        let mut above = exact(&frames[0]);
        // A format without bytecode indices says nothing about the top frame's instruction.
        found.push(above.map(|top| self.judge.world().top(top)));
        for pair in frames.windows(2) {
            let caller = exact(&pair[1]);
            found.push(Some(match (caller, above) {
                (Some(caller), Some(callee)) => self.judge.edge(caller, callee.method),
                _ => {
                    let spot = |frame: &recordings::Frame| Spot {
                        method: Named::of(frame.method),
                        location: match frame.place {
                            Place::Bci(bci) => Some(Location(bci)),
                            Place::Native => Some(Location::NATIVE),
                            Place::Unknown(_) => None,
                        },
                    };
                    self.summary.partly += stack.samples.iter().map(|s| s.times).sum::<u64>();
                    let (caller, callee) = (spot(&pair[1]), Named::of(pair[0].method));
                    self.loose.edge(self.judge, self.names, caller, callee)
                }
            }));
            above = caller;
        }
    }
}

impl Sink for Judging<'_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        self.names.number(self.judge.world_mut(), method)
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: Stack<'_>) {
        let mut found = Vec::with_capacity(stack.frames.len() + 1);
        self.edges(&stack, &mut found);
        let times = stack.samples.iter().map(|samples| samples.times).sum();
        let bad = found
            .iter()
            .flatten()
            .any(|finding| finding.is_impossible());
        self.summary.edges(stack.frames, &found, times);
        let lowest = stack.frames[stack.frames.len() - 1];
        let mut bottoms = 0;
        for samples in stack.samples {
            let start = self.start(&stack, samples.thread.as_ref(), samples.start);
            let method = match Named::of(lowest.method) {
                Named::Known(method) => Some(method),
                Named::Loose(_) => None,
            };
            if let (Some(start), Some(method)) = (start, method) {
                let finding = self.judge.bottom(method, start);
                self.summary
                    .bottom(lowest, finding, samples.times, stack.frames);
                if finding.is_impossible() {
                    bottoms += samples.times;
                }
            }
        }
        self.summary.impossible_stacks += if bad { times } else { bottoms };
    }

    fn note(&mut self, _: Note) {}
}
