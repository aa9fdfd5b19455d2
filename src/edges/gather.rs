//! What files say: the JVM's properties, the classes that frames name, and the edges of the stacks.

use super::counted::{Counted, times};
use super::names::Names;
use oracle::edge::World;
use recordings::{Method, Note, Sink, Stack};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The edges.
    pub counted: Counted,
    /// Notes for the user.
    pub notes: Vec<Note>,
    /// An upper bound of the number of edges, at most `u64::MAX`.
    pub edges: u64,
}

impl Sink for Gathered<'_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        if !method.class.is_empty() && !self.classes.contains(method.class) {
            self.classes.insert(method.class.to_owned());
        }
        self.names.number(self.world, method)
    }

    fn property(&mut self, key: &str, value: &str) {
        self.properties.insert(key.into(), value.into());
    }

    fn stack(&mut self, stack: Stack<'_>) {
        let each = stack.frames.len() as u64 + 1;
        let edges = times(&stack).saturating_mul(each);
        self.edges = self.edges.saturating_add(edges);
        self.counted.add(&stack, self.file);
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}
