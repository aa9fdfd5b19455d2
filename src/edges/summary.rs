//! The findings, as text and as JSON.

use super::names::{Named, Names};
use oracle::edge::{Finding, Unknown, World};
use recordings::{Frame, FramePosition};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// How many different edges of one reason are printed.
const SHOWN: usize = 5;

/// Counts, and each edge that is impossible or unknown.
#[derive(Debug, Default)]
pub struct Summary {
    /// Stacks.
    pub stacks: u64,
    /// Stacks with an impossible edge.
    pub impossible_stacks: u64,
    /// Edges that were judged by names alone, because the format has no descriptors or bytecode
    /// indices.
    pub partly: u64,
    /// Tops that cannot be judged, for the same reason.
    pub unjudged: u64,
    /// How often each finding was made. There are few findings, so a search through all of them is
    /// fast.
    findings: Vec<(Finding, u64)>,
    odd: HashMap<Edge, Odd>,
}

/// A finding, the caller's frame (`None` for the start of a thread), and the callee's method (`None`
/// for a top).
pub type Edge = (Finding, Option<Frame>, Option<u32>);

/// How often an edge was found. An impossible edge has a whole stack too.
#[derive(Debug, Default)]
struct Odd {
    times: u64,
    example: Option<Box<[Frame]>>,
}

impl Summary {
    /// Without findings on these stacks.
    pub fn of_stacks(stacks: u64) -> Summary {
        Summary {
            stacks,
            ..Summary::default()
        }
    }

    /// Counts the finding on an edge.
    pub fn add(&mut self, finding: Finding, lower: Option<Frame>, upper: Option<u32>, times: u64) {
        let mut findings = self.findings.iter_mut();
        match findings.find(|(known, _)| *known == finding) {
            Some((_, count)) => *count += times,
            None => self.findings.push((finding, times)),
        }
        if !matches!(finding, Finding::Possible(_)) {
            self.odd.entry((finding, lower, upper)).or_default().times += times;
        }
    }

    /// The impossible edges.
    pub fn impossible(&self) -> impl Iterator<Item = Edge> {
        let edges = self.odd.keys().copied();
        edges.filter(|(finding, _, _)| finding.is_impossible())
    }

    /// Keeps the stack as the example of the edge, if the stack is the first with this edge.
    pub fn example(&mut self, edge: Edge, frames: &[Frame]) {
        if let Some(odd) = self.odd.get_mut(&edge) {
            odd.example.get_or_insert_with(|| frames.into());
        }
    }

    /// How many edges were possible, impossible and unknown.
    pub fn sums(&self) -> [u64; 3] {
        let mut sums = [0; 3];
        for (finding, count) in &self.findings {
            sums[match finding {
                Finding::Possible(_) => 0,
                Finding::Impossible(_) => 1,
                Finding::Unknown(_) => 2,
            }] += count;
        }
        sums
    }

    /// Whether a class that no frame names, or whose file has another name, might change a finding. A
    /// finding of an impossible edge depends on no such class: a missing one makes the edge unknown.
    pub fn wants_other_classes(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|(finding, _)| match finding {
            Finding::Possible(_) | Finding::Impossible(_) => false,
            Finding::Unknown(cause) => matches!(
                cause,
                Unknown::Hierarchy | Unknown::Receiver | Unknown::CallerClass | Unknown::TopClass
            ),
        })
    }

    /// The findings with their counts: possible before impossible before unknown.
    fn sorted(&self) -> Vec<(Finding, u64)> {
        let mut findings = self.findings.clone();
        findings.sort_unstable();
        findings
    }

    /// The edges that are impossible or unknown, by reason, the most frequent first.
    fn odd(&self, show: Show<'_>) -> BTreeMap<Finding, Vec<ShownEdge>> {
        let mut by_reason: BTreeMap<_, Vec<ShownEdge>> = BTreeMap::new();
        for (&(finding, lower, upper), odd) in &self.odd {
            let example = odd.example.iter().flat_map(|example| example.iter());
            by_reason.entry(finding).or_default().push(ShownEdge {
                verdict: verdict(finding),
                reason: finding.reason(),
                caller: lower.map(|frame| show.method(frame.method)),
                bci: lower.and_then(|frame| match frame.place {
                    FramePosition::Bci(bci) => Some(bci),
                    FramePosition::Native | FramePosition::Unknown(_) => None,
                }),
                place: lower.map(|frame| show.place(frame.place)),
                callee: upper.map(|method| show.method(method)),
                count: odd.times,
                example: example.map(|&frame| show.frame(frame)).collect(),
            });
        }
        for edges in by_reason.values_mut() {
            edges.sort_by(|a, b| {
                let key = |edge: &ShownEdge| (edge.caller.clone(), edge.bci, edge.callee.clone());
                b.count.cmp(&a.count).then_with(|| key(a).cmp(&key(b)))
            });
        }
        by_reason
    }

    /// The reasons and examples, for a terminal.
    pub fn text(&self, world: &World, names: &Names) -> String {
        let mut text = String::new();
        let odd = self.odd(Show { world, names });
        for (finding, count) in self.sorted() {
            let _ = writeln!(text, "{count:>12}  {finding}");
            let edges = odd.get(&finding).map_or(&[][..], Vec::as_slice);
            for edge in edges.iter().take(SHOWN) {
                let lower = match (&edge.caller, &edge.place) {
                    (Some(caller), Some(place)) => format!("{caller}{place}"),
                    _ => "thread".into(),
                };
                let upper = edge.callee.as_deref().unwrap_or("top");
                let _ = writeln!(text, "{:14}{} × {lower} -> {upper}", "", edge.count);
                for frame in &edge.example {
                    let _ = writeln!(text, "{:18}at {frame}", "");
                }
            }
            if edges.len() > SHOWN {
                let _ = writeln!(text, "{:14}and {} other edges", "", edges.len() - SHOWN);
            }
        }
        let [possible, impossible, unknown] = self.sums();
        let edges = possible + impossible + unknown;
        if self.partly + self.unjudged > 0 {
            let whole = (edges - self.partly.min(edges)) as f64;
            let share = whole * 100.0 / (edges + self.unjudged).max(1) as f64;
            let _ = writeln!(
                text,
                "judged in full: {share:.1} % of the edges; by names alone: {}; not at all, since \
                 the format does not tell where the top stands: {}",
                self.partly, self.unjudged
            );
        }
        let _ = writeln!(
            text,
            "stacks with an impossible edge: {}",
            self.impossible_stacks
        );
        let _ = writeln!(
            text,
            "stacks {}, edges {edges}, possible {possible}, impossible {impossible}, unknown {unknown}",
            self.stacks
        );
        text
    }

    /// Everything, as JSON.
    pub fn json(&self, world: &World, names: &Names, notes: &[String]) -> String {
        let [possible, impossible, unknown] = self.sums();
        let report = Report {
            schema: 1,
            stacks: self.stacks,
            impossible_stacks: self.impossible_stacks,
            edges: possible + impossible + unknown,
            possible,
            impossible,
            unknown,
            by_names_alone: self.partly,
            tops_not_judged: self.unjudged,
            notes,
            reasons: self
                .sorted()
                .into_iter()
                .map(|(finding, count)| Reason {
                    verdict: verdict(finding),
                    reason: finding.reason(),
                    count,
                })
                .collect(),
            not_possible: self
                .odd(Show { world, names })
                .into_values()
                .flatten()
                .collect(),
        };
        serde_json::to_string_pretty(&report).expect("it is plain data")
    }
}

/// Shows frames as people read them.
#[derive(Copy, Clone)]
struct Show<'a> {
    world: &'a World,
    names: &'a Names,
}

impl Show<'_> {
    fn method(self, number: u32) -> String {
        self.names.show(self.world, Named::of(number))
    }

    fn place(self, place: FramePosition) -> String {
        match place {
            FramePosition::Bci(bci) => format!("@{bci}"),
            FramePosition::Native => "@native".into(),
            FramePosition::Unknown(Some(line)) => format!(":{line}"),
            FramePosition::Unknown(None) => String::new(),
        }
    }

    fn frame(self, frame: Frame) -> String {
        self.method(frame.method) + &self.place(frame.place)
    }
}

fn verdict(finding: Finding) -> &'static str {
    match finding {
        Finding::Possible(_) => "possible",
        Finding::Impossible(_) => "impossible",
        Finding::Unknown(_) => "unknown",
    }
}

/// The file of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: u32,
    stacks: u64,
    /// Stacks with an impossible edge.
    impossible_stacks: u64,
    edges: u64,
    possible: u64,
    impossible: u64,
    unknown: u64,
    by_names_alone: u64,
    tops_not_judged: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
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
    /// Absent if the edge is the start of the thread.
    caller: Option<String>,
    bci: Option<i32>,
    #[serde(skip)]
    place: Option<String>,
    /// Absent if the edge is the top.
    callee: Option<String>,
    count: u64,
    /// A whole stack with the edge, top first, if the edge is impossible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    example: Vec<String>,
}
