//! Two flame graphs of one program, side by side.

use oracle::bias::Seen;
use serde::Serialize;
use std::collections::BTreeMap;

/// The true stacks and the claimed ones, as two flame graphs with the differences coloured.
#[derive(Clone, Debug)]
pub struct TwoFlames {
    /// The name by which the page's script and tests find the graphs.
    pub id: String,
    /// The titles of the graphs.
    pub titles: [String; 2],
    /// All stacks that are drawn.
    pub root: Both,
    /// Instants whose true stack is not told apart, and therefore not drawn.
    pub left_out: u64,
}

/// A frame with all frames that it called: how often the frame ran, and how often it was claimed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Both {
    /// How often both.
    pub n: [u64; 2],
    /// The called frames, by name.
    pub c: BTreeMap<String, Both>,
}

impl Both {
    /// Adds a frame, which lies on `callers`, the lowest first.
    pub(crate) fn add<'a>(&mut self, callers: impl Iterator<Item = &'a str>, seen: Seen) {
        let mut node = self;
        for name in callers {
            node = node.c.entry(name.into()).or_default();
        }
        node.n[0] += seen.truth;
        node.n[1] += seen.claimed;
    }

    /// Removes frames that make up less than a share of one in `finest` of both graphs, whose roots are `of`.
    pub(crate) fn prune(&mut self, of: [u64; 2], finest: u64) {
        let is_seen = |node: &Both| (0..2).any(|at| node.n[at] * finest >= of[at].max(1));
        self.c.retain(|_, node| is_seen(node));
        self.c.values_mut().for_each(|node| node.prune(of, finest));
    }
}
