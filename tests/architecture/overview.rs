//! The crates: a picture of their arrows, and what each holds by the first paragraph of its own documentation.

use crate::workspace::{crates, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// The page, from the workspace's root on.
pub const PAGE: &str = "docs/architecture.md";

type Arrows = BTreeMap<&'static str, &'static [&'static str]>;

/// The picture and the table.
pub fn text(rows: &[(&'static str, &'static [&'static str])]) -> String {
    let mut text = picture(rows);
    text += "\n| crate | holds |\n| --- | --- |\n";
    let crates = crates();
    for (name, _) in rows {
        let of = crates.iter().find(|one| one.name == *name);
        let folder = &of.expect("an arrow begins at a crate").folder;
        let _ = writeln!(text, "| [`{name}`](../{folder}) | {} |", holds(folder));
    }
    text
}

/// The arrows, without those along which others lead.
fn picture(rows: &[(&'static str, &'static [&'static str])]) -> String {
    let arrows: Arrows = rows.iter().copied().collect();
    let mut text = String::from("```mermaid\ngraph TD\n");
    for (from, to) in rows {
        let is_direct = |end: &&&str| {
            let mut others = to.iter().filter(|other| *other != *end);
            !others.any(|other| reached(other, &arrows).contains(**end))
        };
        let direct: Vec<_> = to.iter().filter(is_direct).copied().collect();
        if !direct.is_empty() {
            let _ = writeln!(text, "    {from} --> {}", direct.join(" & "));
        }
    }
    text + "```\n"
}

/// All crates on which a crate depends.
fn reached(from: &'static str, arrows: &Arrows) -> BTreeSet<&'static str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for &end in arrows.get(next).copied().unwrap_or_default() {
            if reached.insert(end) {
                open.push(end);
            }
        }
    }
    reached
}

/// The first paragraph of the documentation of a crate.
fn holds(folder: &str) -> String {
    let src = root().join(folder).join("src");
    let mut files = ["lib.rs", "main.rs"].iter();
    let text = files.find_map(|file| fs::read_to_string(src.join(file)).ok());
    let text = text.expect("a crate has a root file");
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    lines.collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn arrows_along_which_others_lead_are_left_out() {
    let picture = picture(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert_eq!(
        picture,
        "```mermaid\ngraph TD\n    a --> b\n    b --> c\n```\n"
    );
}
