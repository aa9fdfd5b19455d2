//! Flame graphs. The page's script draws them from data in the page.

use super::super::escape::xml;
use crate::model::{Flame, TwoFlames};
use serde::Serialize;
use std::fmt::Write;

/// One graph.
pub(super) fn one(out: &mut String, flame: &Flame) {
    let id = flame.id;
    let _ = writeln!(
        out,
        "<div class=\"tower\"><div id=\"{id}\" class=\"flame\"></div></div>"
    );
    data(out, id, &flame.root);
}

/// Two graphs side by side.
pub(super) fn two(out: &mut String, flames: &TwoFlames) {
    let id = &flames.id;
    let [left, right] = flames.titles.each_ref().map(|title| xml(title));
    let _ = writeln!(
        out,
        "<div class=\"sides\"><p>{left}</p><p>{right}</p></div>\n\
         <div class=\"tower\"><div id=\"{id}\" class=\"flames\"><div class=\"graph\"></div>\
         <div class=\"graph\"></div></div></div>"
    );
    data(out, id, &flames.root);
}

fn data(out: &mut String, id: &str, tree: &impl Serialize) {
    let data = serde_json::to_string(tree).expect("a tree of names is plain data");
    // A name must not end the element.
    let data = data.replace('<', "\\u003c");
    let _ = writeln!(
        out,
        "<script type=\"application/json\" id=\"{id}-data\">{data}</script>"
    );
}
