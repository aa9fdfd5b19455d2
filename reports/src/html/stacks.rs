//! Mismatches by signature, each with both stacks side by side.

use crate::escape::xml;
use oracle::record::{Mismatch, ShownFrame};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds are shown, and how many examples of each.
const KINDS: usize = 100;
const EXAMPLES: usize = 3;

pub(super) fn render(out: &mut String, all: &[Mismatch]) {
    *out += "<section id=\"mismatches\"><h2>Mismatches</h2>\n";
    if all.is_empty() {
        *out += "<p>None was written down.</p></section>\n";
        return;
    }
    let mut kinds: BTreeMap<String, Vec<&Mismatch>> = BTreeMap::new();
    for mismatch in all {
        kinds
            .entry(mismatch.signature())
            .or_default()
            .push(mismatch);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, of_kind)| std::cmp::Reverse(of_kind.len()));
    for (signature, of_kind) in kinds.iter().take(KINDS) {
        let _ = writeln!(
            out,
            "<details><summary><b>{}</b> {}</summary>",
            of_kind.len(),
            xml(signature)
        );
        for mismatch in of_kind.iter().take(EXAMPLES) {
            one(out, mismatch);
        }
        *out += "</details>\n";
    }
    if kinds.len() > KINDS {
        let _ = writeln!(
            out,
            "<p>And {} other kinds, in report.json.</p>",
            kinds.len() - KINDS
        );
    }
    *out += "</section>\n";
}

fn one(out: &mut String, mismatch: &Mismatch) {
    let _ = writeln!(
        out,
        "<p>Thread {}</p>\n<table class=\"stacks\"><tr><th><th>walker<th>truth</tr>",
        xml(&mismatch.thread)
    );
    for row in 0..mismatch.walker.len().max(mismatch.truth.len()) {
        let mark = if mismatch.at_frame == Some(row) {
            " class=\"differs\""
        } else {
            ""
        };
        let cell = |frames: &[ShownFrame]| frames.get(row).map_or(String::new(), frame);
        let _ = writeln!(
            out,
            "<tr{mark}><td>{row}<td>{}<td>{}</tr>",
            cell(&mismatch.walker),
            cell(&mismatch.truth)
        );
    }
    *out += "</table>\n<dl>";
    for (name, value) in &mismatch.evidence {
        let _ = write!(out, "<dt>{}<dd><code>{}</code>", xml(name), xml(value));
    }
    *out += "</dl>\n";
}

/// A frame without its package and descriptor; both are in its tooltip.
fn frame(frame: &ShownFrame) -> String {
    let whole = crate::stacks::frame(frame);
    let mut short = short(&frame.method).to_owned();
    if let Some(bci) = frame.bci {
        let _ = write!(short, " @{bci}");
    }
    format!("<span title=\"{}\">{}</span>", xml(&whole), xml(&short))
}

/// `Class.method` of `package.Class.method(descriptor)`.
pub(super) fn short(method: &str) -> &str {
    let name = method.split('(').next().unwrap_or(method);
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
    match dots[..] {
        [.., class, _] => &name[class + 1..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn packages_and_descriptors_are_left_out() {
        assert_eq!(short("java.util.List.add(Ljava/lang/Object;)Z"), "List.add");
        assert_eq!(short("A.b()V"), "A.b");
        assert_eq!(short("b"), "b");
        assert_eq!(short(""), "");
    }
}
