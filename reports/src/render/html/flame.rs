//! Flame graphs. The page's script draws them from data in the page.

use super::super::escape::visible;
use crate::model::{Both, Flame, Node, TwoFlames};
use crate::numbers::{count, exact, part};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// Frames with a smaller share than one in this many are not drawn.
const FINEST: u64 = 1000;

/// Largest size of a graph's data, in bytes.
const LARGEST: usize = 120_000;

/// What ran and what the profile shows, as one graph.
pub(super) fn section(title: &str, of: &TwoFlames) -> Markup {
    let [truth, claimed] = of.root.n;
    let (data, finest) = bounded(&of.id, truth.max(claimed), |least| {
        let mut root = both(&of.root);
        if let Some(finest) = truth.max(claimed).checked_div(least) {
            root.prune(of.root.n, finest);
        }
        json(&root)
    });
    let finest = finest.unwrap_or(FINEST).min(FINEST);
    html! {
        p.lead {
            "What ran, and what a profile by " (title) " shows. A frame is as wide as the mean of both shares. "
            span.key.often {} "the profile shows too much, "
            span.key.rare {} "too little, "
            span.key.equal {} "the right share. Point at a frame for its numbers; choose one to make it wider."
        }
        div.tower tabindex="0" role="group" aria-label={ "Flame graph of " (title) } {
            div.flames id=(of.id) data-instants=(truth) data-answers=(claimed) {}
        }
        p.foot {
            (count(truth)) " instants, " (count(claimed)) " answers. "
            "Frames with a share below " (exact(1.0 / finest as f64)) " are not drawn."
            @if of.left_out > 0 {
                " " (part(of.left_out, truth)) " of the instants are not drawn either: their stacks did not fit into the "
                "agent's memory."
            }
        }
        (data)
    }
}

/// One graph.
pub(super) fn one(of: &Flame) -> Markup {
    let (data, finest) = bounded(of.id, of.root.n, |least| {
        let mut root = node(&of.root);
        root.prune(least);
        json(&root)
    });
    html! {
        @if let Some(finest) = finest {
            p.foot { "On this page, frames of fewer than one in " (count(finest)) " stacks are not drawn." }
        }
        div.tower tabindex="0" role="group" aria-label="Flame graph" { div.flame id=(of.id) {} }
        (data)
    }
}

/// The data of a graph of `n` stacks: without rare frames, if it would be too large. `text` gives the data without
/// frames of fewer than so many stacks. Returns one in how many stacks the rarest frame has.
fn bounded(id: &str, n: u64, text: impl Fn(u64) -> String) -> (Markup, Option<u64>) {
    let mut data = text(0);
    let mut finest = None;
    for one_in in [3000, 1000, 300, 100, 30, 10, 3] {
        if data.len() <= LARGEST {
            break;
        }
        data = text(n.div_ceil(one_in));
        finest = Some(one_in);
    }
    let script =
        html! { script type="application/json" id={ (id) "-data" } { (PreEscaped(data)) } };
    (script, finest)
}

/// The same tree, with names that do not change the direction of text: JSON cannot hold an escape of ours.
fn both(of: &Both) -> Both {
    let callees = of.c.iter().map(|(name, of)| (visible(name), both(of)));
    Both {
        n: of.n,
        c: callees.collect(),
    }
}

fn node(of: &Node) -> Node {
    let callees = of.c.iter().map(|(name, of)| (visible(name), node(of)));
    Node {
        n: of.n,
        c: callees.collect(),
    }
}

fn json(tree: &impl Serialize) -> String {
    let data = serde_json::to_string(tree).expect("a tree of names is plain data");
    // A name must not end the element.
    data.replace('<', "\\u003c")
}
