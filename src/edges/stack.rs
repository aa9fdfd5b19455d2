//! Stacks that are kept, so that faults can be injected into them.

use super::counted::Thread;
use super::names::{Named, Names};
use oracle::edge::{EdgeFrame, Starts, ThreadStart, World};
use oracle::trace::Location;
use recordings::{FramePosition, Method, Note, Sink};

/// How many copies of one stack are kept.
const COPIES: u64 = 1000;

/// One stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The thread, by the file's name for it; `None` if the file has no name for the thread.
    pub thread: Option<String>,
    /// Frames, top first.
    pub frames: Vec<EdgeFrame>,
    /// How the thread started, if the lowest frame is in the stack and is to be judged.
    pub bottom: Option<ThreadStart>,
}

/// All stacks whose frames have descriptors and bytecode indices.
pub struct Collected<'c> {
    world: &'c mut World,
    names: &'c mut Names,
    starts: Option<&'c Starts<Thread>>,
    /// The number of the file that is read, from 0.
    pub file: usize,
    /// The stacks.
    pub stacks: Vec<Stack>,
}

impl<'c> Collected<'c> {
    /// A collection without a stack.
    pub fn new(
        world: &'c mut World,
        names: &'c mut Names,
        starts: Option<&'c Starts<Thread>>,
    ) -> Collected<'c> {
        Collected {
            world,
            names,
            starts,
            file: 0,
            stacks: vec![],
        }
    }
}

impl Sink for Collected<'_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        self.names.number(self.world, method)
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: recordings::Stack<'_>) {
        let frames = stack.frames.iter().map(|frame| {
            let Named::Known(method) = Named::of(frame.method) else {
                return None;
            };
            let location = match frame.place {
                FramePosition::Bci(bci) => Location(bci),
                FramePosition::Native => Location::NATIVE,
                FramePosition::Unknown(_) => return None,
            };
            Some(EdgeFrame { method, location })
        });
        let Some(frames) = frames.collect::<Option<Vec<EdgeFrame>>>() else {
            return;
        };
        for samples in stack.samples {
            let thread = samples.thread.clone();
            let known = self.starts.zip(thread.clone());
            let start = known.map_or(ThreadStart::Unknown, |(starts, thread)| {
                starts.of(&(self.file, thread))
            });
            // More copies of a stack show no more of the judge.
            for _ in 0..samples.times.min(COPIES) {
                self.stacks.push(Stack {
                    thread: thread.clone(),
                    frames: frames.clone(),
                    bottom: stack.whole.then_some(start),
                });
            }
        }
    }

    fn note(&mut self, _: Note) {}
}
