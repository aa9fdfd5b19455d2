//! Both stacks of a mismatch, side by side.

use super::super::escape::xml;
use crate::model::{Frame, Stacks};
use std::fmt::Write;

/// How many frames are shown at the top, at the bottom and on each side of the difference.
const AROUND: usize = 30;

pub(super) fn stacks(out: &mut String, stacks: &Stacks) {
    let _ = writeln!(
        out,
        "<p>Thread {}</p>\n<table class=\"stacks\"><tr><th><th>walker<th>truth</tr>",
        xml(&stacks.thread)
    );
    let depth = stacks.walker.len().max(stacks.truth.len());
    let at = stacks.differs.unwrap_or(0);
    let shown = |row: &usize| *row < AROUND || row.abs_diff(at) < AROUND || depth - row < AROUND;
    let mut last = None;
    for row in (0..depth).filter(shown) {
        if last.is_some_and(|last| last + 1 != row) {
            *out += "<tr><td>\u{2026}<td>\u{2026}<td>\u{2026}</tr>\n";
        }
        last = Some(row);
        let mark = match stacks.differs {
            Some(differs) if differs == row => " class=\"differs\"",
            _ => "",
        };
        let cell = |frames: &[Frame]| frames.get(row).map_or(String::new(), frame);
        let _ = writeln!(
            out,
            "<tr{mark}><td>{row}<td>{}<td>{}</tr>",
            cell(&stacks.walker),
            cell(&stacks.truth)
        );
    }
    *out += "</table>\n<dl>";
    for (name, value) in &stacks.evidence {
        let _ = write!(out, "<dt>{}<dd><code>{}</code>", xml(name), xml(value));
    }
    *out += "</dl>\n";
}

/// A frame without its package and descriptor; both are in its tooltip.
fn frame(frame: &Frame) -> String {
    let (whole, short) = (xml(&frame.whole), xml(&frame.short));
    format!("<span title=\"{whole}\">{short}</span>")
}
