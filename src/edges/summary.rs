//! What was found, as text and as JSON.

use oracle::edge::{Counts, EdgeFrame, Finding, World};
use oracle::trace::Location;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// How many different edges of one reason are printed.
const SHOWN: usize = 5;

/// Counts, and each edge that is not possible.
#[derive(Debug, Default)]
pub struct Summary {
    /// The counts.
    pub counts: Counts,
    /// By finding, the frame that lies lower (none for a bottom) and the one that lies on it
    /// (none for a top).
    odd: HashMap<Edge, u64>,
}

type Edge = (Finding, Option<EdgeFrame>, Option<EdgeFrame>);

impl Summary {
    /// Counts the findings on a stack, as [`oracle::edge::Judge::stack`] makes them.
    pub fn add(&mut self, frames: &[EdgeFrame], found: &[Finding]) {
        self.counts.add(found);
        for (i, &finding) in found.iter().enumerate() {
            if !matches!(finding, Finding::Possible(_)) {
                let above = i.checked_sub(1).map(|above| frames[above]);
                let edge = (finding, frames.get(i).copied(), above);
                *self.odd.entry(edge).or_default() += 1;
            }
        }
    }

    /// Edges that are not possible by reason, the most frequent first.
    fn odd(&self) -> BTreeMap<Finding, Vec<(&Edge, u64)>> {
        let mut by_reason: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (edge, &count) in &self.odd {
            by_reason.entry(edge.0).or_default().push((edge, count));
        }
        for edges in by_reason.values_mut() {
            edges.sort_by_key(|&(edge, count)| {
                let key = |frame: Option<EdgeFrame>| frame.map(|f| (f.method, f.location));
                (std::cmp::Reverse(count), key(edge.1), key(edge.2))
            });
        }
        by_reason
    }

    /// The reasons and examples, for a terminal.
    pub fn text(&self, world: &World) -> String {
        let mut text = String::new();
        let odd = self.odd();
        for (finding, count) in self.counts.findings() {
            let _ = writeln!(text, "{count:>12}  {finding}");
            let edges = odd.get(&finding).map_or(&[][..], Vec::as_slice);
            for &(&(_, lower, upper), count) in edges.iter().take(SHOWN) {
                let lower = lower.map_or("thread".into(), |frame| show(world, frame));
                let upper = upper.map_or("top".into(), |frame| world.show(frame.method));
                let _ = writeln!(text, "{:14}{count} × {lower} -> {upper}", "");
            }
            if edges.len() > SHOWN {
                let _ = writeln!(text, "{:14}and {} other edges", "", edges.len() - SHOWN);
            }
        }
        text
    }

    /// Everything, as JSON.
    pub fn json(&self, world: &World) -> String {
        let [possible, impossible, unknown] = self.counts.sums();
        let reasons = self.counts.findings();
        let edges = self.odd().into_values().flatten().map(|(edge, count)| {
            let &(finding, lower, upper) = edge;
            ShownEdge {
                verdict: verdict(finding),
                reason: finding.reason(),
                caller: lower.map(|frame| world.show(frame.method)),
                bci: lower.map(|frame| frame.location).and_then(Location::bci),
                callee: upper.map(|frame| world.show(frame.method)),
                count,
            }
        });
        let report = Report {
            schema: 1,
            stacks: self.counts.stacks(),
            edges: possible + impossible + unknown,
            possible,
            impossible,
            unknown,
            reasons: reasons
                .map(|(finding, count)| Reason {
                    verdict: verdict(finding),
                    reason: finding.reason(),
                    count,
                })
                .collect(),
            not_possible: edges.collect(),
        };
        serde_json::to_string_pretty(&report).expect("it is plain data")
    }
}

fn verdict(finding: Finding) -> &'static str {
    match finding {
        Finding::Possible(_) => "possible",
        Finding::Impossible(_) => "impossible",
        Finding::Unknown(_) => "unknown",
    }
}

fn show(world: &World, frame: EdgeFrame) -> String {
    let method = world.show(frame.method);
    match frame.location.bci() {
        Some(bci) => format!("{method}@{bci}"),
        None => format!("{method}@native"),
    }
}

/// The file of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    stacks: u64,
    edges: u64,
    possible: u64,
    impossible: u64,
    unknown: u64,
    reasons: Vec<Reason>,
    /// Each impossible or unknown edge.
    not_possible: Vec<ShownEdge>,
}

#[derive(Debug, Serialize)]
struct Reason {
    verdict: &'static str,
    reason: &'static str,
    count: u64,
}

#[derive(Debug, Serialize)]
struct ShownEdge {
    verdict: &'static str,
    reason: &'static str,
    /// None where the thread's start is meant.
    caller: Option<String>,
    bci: Option<u32>,
    /// None where the top is meant.
    callee: Option<String>,
    count: u64,
}
