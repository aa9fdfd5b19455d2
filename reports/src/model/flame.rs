//! Flame graphs.

use serde::Serialize;
use std::collections::BTreeMap;

/// A flame graph.
#[derive(Clone, Debug)]
pub struct Flame {
    /// The name by which the page's script and tests find the graph.
    pub id: &'static str,
    /// All stacks.
    pub root: Node,
}

/// A frame with all frames that it called.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Node {
    /// How many stacks contain the frame.
    pub n: u64,
    /// The called frames, by name.
    pub c: BTreeMap<String, Node>,
}

impl Node {
    /// Adds a stack that was seen `count` times, its lowest frame first.
    pub(crate) fn add<'a>(&mut self, count: u64, bottom_up: impl Iterator<Item = &'a str>) {
        self.n += count;
        let mut node = self;
        for name in bottom_up {
            node = node.c.entry(name.into()).or_default();
            node.n += count;
        }
    }

    /// Removes frames that fewer than `least` stacks contain.
    pub(crate) fn prune(&mut self, least: u64) {
        self.c.retain(|_, node| node.n >= least);
        self.c.values_mut().for_each(|node| node.prune(least));
    }
}
