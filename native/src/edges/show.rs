//! Findings in the form of records.

use oracle::edge::{Counts, Finding};
use oracle::record::FoundEdges;

/// All counts, by finding and reason.
pub fn summary(counts: &Counts) -> FoundEdges {
    let edges = counts.findings();
    let edges = edges.map(|(finding, n)| (finding.to_string(), n));
    FoundEdges {
        stacks: counts.stacks(),
        edges: edges.collect(),
    }
}

/// The findings on a stack, for the evidence of a mismatch in any layer.
pub fn evidence(found: &[Finding]) -> String {
    let odd = found.iter().enumerate();
    let odd = odd.filter(|(_, finding)| !matches!(finding, Finding::Possible(_)));
    let odd: Vec<_> = odd
        .map(|(at, finding)| format!("frame {at} {finding}"))
        .collect();
    if odd.is_empty() {
        "all possible".into()
    } else {
        odd.join("; ")
    }
}
