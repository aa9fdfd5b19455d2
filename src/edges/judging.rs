//! Judges the different edges of all stacks.

use super::counted::{Bottom, Counted, Pair, Thread};
use super::loose::{Loose, Spot};
use super::names::{Named, Names};
use super::summary::Summary;
use oracle::edge::{EdgeFrame, Finding, Judge, MethodId, Starts, ThreadStart};
use oracle::trace::Location;
use recordings::{Frame, FramePosition, IN_MAIN, Method};

/// What edges are judged by.
pub struct Judging<'j> {
    /// Knows the classes.
    judge: &'j mut Judge,
    /// Methods without descriptors.
    names: &'j mut Names,
    /// How threads started; `None` if the files do not say.
    starts: Option<&'j Starts<Thread>>,
    /// Judges edges between frames that lack a descriptor or a BCI.
    loose: Loose,
}

impl<'j> Judging<'j> {
    /// A judge without findings.
    pub fn new(
        judge: &'j mut Judge,
        names: &'j mut Names,
        starts: Option<&'j Starts<Thread>>,
    ) -> Judging<'j> {
        Judging {
            judge,
            names,
            starts,
            loose: Loose::default(),
        }
    }

    /// The number of a method.
    pub fn number(&mut self, method: Method<'_>) -> u32 {
        self.names.number(self.judge.world_mut(), method)
    }

    /// The findings on everything that was counted.
    pub fn summary(&mut self, counted: &Counted) -> Summary {
        let mut summary = Summary::of_stacks(counted.stacks);
        for (&top, &times) in &counted.tops {
            // A format without bytecode indices says nothing about the top frame's instruction.
            match exact(top) {
                Some(frame) => summary.add(self.judge.world().top(frame), Some(top), None, times),
                None => summary.unjudged += times,
            }
        }
        for (&pair, &times) in &counted.pairs {
            let finding = match (exact(pair.lower), known(pair.upper)) {
                // Each pair comes once, so the judge need not remember its finding.
                (Some(caller), Some(callee)) => self.judge.world().edge(caller, callee),
                _ => {
                    summary.partly += times;
                    self.loosely(pair)
                }
            };
            summary.add(finding, Some(pair.lower), Some(pair.upper), times);
        }
        for (bottom, &times) in &counted.bottoms {
            if let Some(finding) = self.bottom(bottom) {
                summary.add(finding, None, Some(bottom.lowest.method), times);
            }
        }
        summary
    }

    /// The finding on the lowest frame of a thread; `None` if nothing is known of the method.
    pub fn bottom(&mut self, bottom: &Bottom) -> Option<Finding> {
        let method = known(bottom.lowest.method)?;
        let known = || {
            let known = self.starts.zip(bottom.thread.as_ref());
            known.map_or(ThreadStart::Unknown, |(starts, thread)| starts.of(thread))
        };
        let start = match bottom.told {
            Some("java") => ThreadStart::Java,
            Some("launcher") => ThreadStart::Launcher,
            // Only that the launcher's `main` runs is known to be so: another program may call `main` twice.
            Some(IN_MAIN) if known() == ThreadStart::Launcher => ThreadStart::Java,
            Some(IN_MAIN) | None => known(),
            Some(_) => ThreadStart::Unknown,
        };
        Some(self.judge.bottom(method, start))
    }

    fn loosely(&mut self, pair: Pair) -> Finding {
        let caller = Spot {
            method: Named::of(pair.lower.method),
            location: location(pair.lower.place),
        };
        let callee = Named::of(pair.upper);
        self.loose.edge(self.judge, self.names, caller, callee)
    }
}

/// The frame, if its method has a descriptor and its place is known.
pub fn exact(frame: Frame) -> Option<EdgeFrame> {
    Some(EdgeFrame {
        method: known(frame.method)?,
        location: location(frame.place)?,
    })
}

fn known(method: u32) -> Option<MethodId> {
    match Named::of(method) {
        Named::Known(method) => Some(method),
        Named::Loose(_) => None,
    }
}

fn location(place: FramePosition) -> Option<Location> {
    match place {
        FramePosition::Bci(bci) => Some(Location(bci)),
        FramePosition::Native => Some(Location::NATIVE),
        FramePosition::Unknown(_) => None,
    }
}
