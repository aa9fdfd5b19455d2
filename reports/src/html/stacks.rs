//! Mismatches by signature, each with both stacks side by side.

use crate::escape::xml;
use oracle::record::{Mismatch, ShownFrame};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds are shown for a reason, and how many examples of each.
const KINDS: usize = 30;
const EXAMPLES: usize = 3;

/// How many frames are shown at the top, at the bottom and on each side of the difference.
const AROUND: usize = 30;

/// Groups by `key`, the largest group first.
fn grouped<'a, K: Ord>(
    all: &[&'a Mismatch],
    key: impl Fn(&Mismatch) -> K,
) -> Vec<(K, Vec<&'a Mismatch>)> {
    let mut groups: BTreeMap<K, Vec<&Mismatch>> = BTreeMap::new();
    for mismatch in all {
        groups.entry(key(mismatch)).or_default().push(mismatch);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, of_group)| std::cmp::Reverse(of_group.len()));
    groups
}

pub(super) fn render(out: &mut String, all: &[Mismatch]) {
    *out += "<section id=\"mismatches\"><h2>Mismatches</h2>\n";
    if all.is_empty() {
        *out += "<p>None was written down.</p></section>\n";
        return;
    }
    causes(out, all);
    let all: Vec<&Mismatch> = all.iter().collect();
    let what = |m: &Mismatch| format!("{} {}: {}", m.layer, m.verdict_name(), m.reason);
    for (reason, of_reason) in grouped(&all, what) {
        let _ = writeln!(
            out,
            "<details open><summary><b>{}</b> {}</summary>",
            of_reason.len(),
            xml(&reason)
        );
        let kinds = grouped(&of_reason, Mismatch::signature);
        for (signature, of_kind) in kinds.iter().take(KINDS) {
            let method = signature.rsplit(" at ").next().unwrap_or_default();
            let _ = writeln!(
                out,
                "<details class=\"kind\"><summary title=\"{}\"><b>{}</b> {}</summary>",
                xml(signature),
                of_kind.len(),
                xml(method.split('(').next().unwrap_or(method))
            );
            of_kind
                .iter()
                .take(EXAMPLES)
                .for_each(|mismatch| one(out, mismatch));
            *out += "</details>\n";
        }
        if kinds.len() > KINDS {
            let _ = writeln!(
                out,
                "<p>And {} other kinds, in report.json.</p>",
                kinds.len() - KINDS
            );
        }
        *out += "</details>\n";
    }
    *out += "</section>\n";
}

fn causes(out: &mut String, all: &[Mismatch]) {
    *out += "<table><tr><th>layer<th class=\"text\">cause<th class=\"text\">means<th>written down</tr>\n";
    for (layer, cause, n) in crate::causes::counted(all) {
        let meaning = crate::causes::meaning(cause);
        let _ = writeln!(
            out,
            "<tr><th>{layer}<td class=\"text\">{cause}<td class=\"text\">{meaning}<td>{n}</tr>"
        );
    }
    *out += "</table>\n";
}

fn one(out: &mut String, mismatch: &Mismatch) {
    let _ = writeln!(
        out,
        "<p>Thread {}</p>\n<table class=\"stacks\"><tr><th><th>walker<th>truth</tr>",
        xml(&mismatch.thread)
    );
    let depth = mismatch.walker.len().max(mismatch.truth.len());
    let at = mismatch.at_frame.unwrap_or(0);
    let shown = |row: &usize| *row < AROUND || row.abs_diff(at) < AROUND || depth - row < AROUND;
    let mut last = None;
    for row in (0..depth).filter(shown) {
        if last.is_some_and(|last| last + 1 != row) {
            *out += "<tr><td>\u{2026}<td>\u{2026}<td>\u{2026}</tr>\n";
        }
        last = Some(row);
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
    for (name, value) in mismatch.evidence.texts() {
        let _ = write!(out, "<dt>{}<dd><code>{}</code>", xml(&name), xml(&value));
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
