//! Flame graphs: one of where mismatches sit (the true stacks, or the walker's where there is
//! no other, down to the first frame that differs), one of all samples.

use super::stacks::short;
use oracle::record::{Mismatch, ShownFrame};
use oracle::report::Run;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Deeper frames would make boxes beyond any screen.
const DEEPEST: usize = 500;

/// In a profile, one sample in so many is the least that is drawn: a page of ordinary size.
const FINEST: u64 = 10_000;

/// A frame, with all that it called.
#[derive(Default, Serialize)]
struct Node {
    /// How many stacks pass it.
    n: u64,
    /// What it called, by name.
    c: BTreeMap<String, Node>,
}

impl Node {
    fn add<'a>(&mut self, count: u64, bottom_up: impl Iterator<Item = &'a str>) {
        self.n += count;
        let mut node = self;
        for name in bottom_up {
            node = node.c.entry(name.into()).or_default();
            node.n += count;
        }
    }

    /// Takes out what fewer than `least` stacks pass.
    fn prune(&mut self, least: u64) {
        self.c.retain(|_, node| node.n >= least);
        self.c.values_mut().for_each(|node| node.prune(least));
    }
}

pub(super) fn render(out: &mut String, mismatches: &[Mismatch]) {
    if mismatches.is_empty() {
        return;
    }
    let mut root = Node::default();
    for mismatch in mismatches {
        root.add(
            1,
            path(mismatch)
                .rev()
                .take(DEEPEST)
                .map(|frame| short(&frame.method)),
        );
    }
    let about = "Callers below, callees above. Click a frame to zoom in, the lowest to zoom out.";
    graph(
        out,
        ["flames", "flame", "Where mismatches sit"],
        about,
        &root,
    );
}

/// All stacks that the samplers saw.
pub(super) fn render_all(out: &mut String, runs: &[Run]) {
    let programs: BTreeSet<&str> = runs.iter().map(|run| run.scenario.as_str()).collect();
    let (mut root, mut other) = (Node::default(), 0);
    for run in runs {
        // Where there are several programs, each has a tower of its own.
        let program = (programs.len() > 1).then_some(run.scenario.as_str());
        run.profile.for_each(|stack, count| {
            let methods = stack.iter().take(DEEPEST).map(|method| short(method));
            root.add(count, program.into_iter().chain(methods));
        });
        let rest = run.profile.other;
        other += rest;
        if rest > 0 {
            root.add(rest, program.into_iter().chain(["other stacks"]));
        }
    }
    if root.n == 0 {
        return;
    }
    root.prune(root.n.div_ceil(FINEST));
    let about = format!(
        "A profile: {} stacks of threads that ran, one in many of threads that waited, at random \
         instants, without our hooks; {other} of them too rare to be kept apart. What is below one \
         in {FINEST} is not drawn.",
        root.n
    );
    graph(out, ["profile", "all-flame", "All samples"], &about, &root);
}

/// A section with a graph: its id, the graph's, and its title.
fn graph(out: &mut String, [id, graph, title]: [&str; 3], about: &str, root: &Node) {
    let data = serde_json::to_string(root).expect("a tree of names is plain data");
    let _ = write!(
        out,
        "<section id=\"{id}\"><h2>{title}</h2>\n<p>{about}</p>\n<div class=\"tower\"><div id=\"{graph}\" class=\"flame\"></div></div>\n\
         <script type=\"application/json\" id=\"{graph}-data\">{}</script></section>\n",
        // A name must not end the element.
        data.replace('<', "\\u003c")
    );
}

/// The frames, top first, from the differing one down.
fn path(mismatch: &Mismatch) -> std::slice::Iter<'_, ShownFrame> {
    let at = mismatch.at_frame.unwrap_or(0);
    let frames = if mismatch.truth.is_empty() {
        &mismatch.walker
    } else {
        &mismatch.truth
    };
    frames[at.min(frames.len())..].iter()
}
