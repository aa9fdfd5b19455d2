//! A flame graph of where mismatches sit: the true stacks, or the walker's where there is no
//! other, down to the first frame that differs.

use super::stacks::short;
use oracle::record::{Mismatch, ShownFrame};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Deeper frames would make boxes beyond any screen.
const DEEPEST: usize = 500;

/// A frame, with all that it called.
#[derive(Default, Serialize)]
struct Node {
    /// How many stacks pass it.
    n: u64,
    /// What it called, by name.
    c: BTreeMap<String, Node>,
}

impl Node {
    fn add<'a>(&mut self, bottom_up: impl Iterator<Item = &'a str>) {
        self.n += 1;
        let mut node = self;
        for name in bottom_up {
            node = node.c.entry(name.into()).or_default();
            node.n += 1;
        }
    }
}

pub(super) fn render(out: &mut String, mismatches: &[Mismatch]) {
    if mismatches.is_empty() {
        return;
    }
    let mut root = Node::default();
    for mismatch in mismatches {
        root.add(
            path(mismatch)
                .rev()
                .take(DEEPEST)
                .map(|frame| short(&frame.method)),
        );
    }
    let data = serde_json::to_string(&root).expect("a tree of names is plain data");
    let _ = write!(
        out,
        "<section id=\"flames\"><h2>Where mismatches sit</h2>\n<p>Callers below, callees above. Click a frame to zoom in, \
         the lowest to zoom out.</p>\n<div id=\"flame\"></div>\n<script type=\"application/json\" id=\"flame-data\">{}</script>\
         </section>\n",
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
