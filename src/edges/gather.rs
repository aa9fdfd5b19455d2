//! What must be known before stacks can be judged: the JVM's properties, the classes that frames
//! name, and how threads started. The files are read once for these facts, and a second time to be
//! judged.

use super::names::{Named, Names};
use oracle::edge::{MethodId, World};
use recordings::{Method, Note, Sink, Stack};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What was found so far.
pub struct Gathered<'w> {
    /// Takes the methods.
    pub world: &'w mut World,
    /// Methods without descriptors.
    pub names: &'w mut Names,
    /// The number of the file that is read, from 0.
    pub file: usize,
    /// System properties of the JVM.
    pub properties: BTreeMap<String, String>,
    /// Internal names of the classes of all frames.
    pub classes: BTreeSet<String>,
    /// The lowest methods of threads.
    pub lowest: HashSet<(Thread, MethodId)>,
    /// Notes for the user.
    pub notes: Vec<Note>,
    /// The number of stacks, at most `u64::MAX`.
    pub stacks: u64,
    /// An upper bound of the number of edges, at most `u64::MAX`.
    pub edges: u64,
}

/// A thread: its file, and the file's name for the thread.
pub type Thread = (usize, String);

impl Sink for Gathered<'_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        if !self.classes.contains(method.class) {
            self.classes.insert(method.class.to_owned());
        }
        self.names.number(self.world, method)
    }

    fn property(&mut self, key: &str, value: &str) {
        self.properties.insert(key.into(), value.into());
    }

    fn stack(&mut self, stack: Stack<'_>) {
        for samples in stack.samples {
            let edges = samples.times.saturating_mul(stack.frames.len() as u64 + 1);
            self.stacks = self.stacks.saturating_add(samples.times);
            self.edges = self.edges.saturating_add(edges);
            if let (true, Some(thread), Some(lowest)) =
                (stack.whole, &samples.thread, stack.frames.last())
                && let Named::Known(method) = Named::of(lowest.method)
            {
                self.lowest.insert(((self.file, thread.clone()), method));
            }
        }
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}
