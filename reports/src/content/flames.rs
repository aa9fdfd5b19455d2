//! Flame graphs: one of the places of mismatches, one of all samples.

use super::frames::short;
use crate::model::{Block, Flame, Node, Room, Section};
use oracle::record::{Mismatch, ShownFrame};
use oracle::report::Run;
use std::collections::BTreeSet;

/// The largest depth. Deeper frames would be outside of any screen.
const DEEPEST: usize = 500;

/// In a profile, frames with a smaller share of the samples than one in this many are not drawn, so
/// that the page stays small.
const FINEST: u64 = 10_000;

/// The places of mismatches: the true stacks, or the walker's stacks if the truth has none, down to
/// the first frame that differs.
pub(super) fn mismatches(mismatches: &[Mismatch]) -> Option<Section> {
    let mut root = Node::default();
    for mismatch in mismatches {
        let frames = path(mismatch).iter().rev().take(DEEPEST);
        root.add(1, frames.map(|frame| short(&frame.method)));
    }
    let about = "Callers below, callees above. Click a frame to zoom in, the lowest to zoom out.";
    let flame = Flame { id: "flame", root };
    section("flames", "Where mismatches lie", about.into(), flame)
}

/// All stacks that the samplers saw.
pub(super) fn profile(runs: &[Run]) -> Option<Section> {
    let programs: BTreeSet<&str> = runs.iter().map(|run| run.scenario.as_str()).collect();
    let (mut root, mut other) = (Node::default(), 0);
    for run in runs {
        // If there are several programs, each has its own root.
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
    root.prune(root.n.div_ceil(FINEST));
    let about = format!(
        "A profile: {} stacks of threads that ran, and of one in many threads that waited, at \
         random instants, without the frames of hooks. {other} stacks were too rare to be kept \
         apart. Frames of fewer than one in {FINEST} stacks are not drawn.",
        root.n
    );
    let id = "all-flame";
    section("profile", "All samples", about, Flame { id, root })
}

fn section(id: &'static str, title: &'static str, about: String, flame: Flame) -> Option<Section> {
    (flame.root.n > 0).then(|| Section {
        id,
        title,
        room: Room::Page,
        blocks: vec![Block::Note(about), Block::Flame(flame)],
    })
}

/// The frames, top first, from the differing one down.
fn path(mismatch: &Mismatch) -> &[ShownFrame] {
    let frames = if mismatch.truth.is_empty() {
        &mismatch.walker
    } else {
        &mismatch.truth
    };
    &frames[mismatch.at_frame.unwrap_or(0).min(frames.len())..]
}
