//! Counts of call edges.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The findings on the call edges of all stacks, by walker.
///
/// An edge of GetStackTrace's stacks that is impossible is a mismatch of layer `gst`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct EdgeCounts {
    /// Of the walkers of layers that rest on class files. In the usual layers this is AsyncGetCallTrace.
    pub asgct: FoundEdges,
    /// Of GetStackTrace in layers `gst` and `asgct-gst`.
    pub gst: FoundEdges,
    /// CPU time that the sampler took to judge the stacks of `asgct`, in nanoseconds: from each
    /// walk in the handler's memory to its verdict, without the writing of evidence.
    #[serde(default)]
    pub judging_ns: u64,
    /// Checks of layer `gst` whose edges were not judged, because another thread was judging or a
    /// method is gone.
    #[serde(default)]
    pub checks_unjudged: u64,
    /// The time that the program's threads took to judge the edges of their checks, in nanoseconds.
    #[serde(default)]
    pub checks_ns: u64,
}

impl EdgeCounts {
    /// Whether no stack was judged.
    pub fn is_empty(&self) -> bool {
        self.asgct.stacks == 0 && self.gst.stacks == 0
    }

    /// How many stacks of these layers were judged per second of CPU time; `None` without such
    /// stacks.
    pub fn judged_per_cpu_s(&self) -> Option<f64> {
        let per_s = self.asgct.stacks as f64 * 1e9 / self.judging_ns as f64;
        Some(per_s).filter(|_| self.asgct.stacks > 0 && self.judging_ns > 0)
    }
}

/// The findings on the edges of one walker's stacks.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct FoundEdges {
    /// Stacks.
    pub stacks: u64,
    /// Edges, by finding and reason.
    pub edges: BTreeMap<String, u64>,
}
