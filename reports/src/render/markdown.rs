//! Markdown for a CI system's summary.

use super::escape::{fenced, markdown as escaped, xml};
use super::limits::left_out;
use super::text::{example as as_example, stacks as as_text};
use crate::model::{Block, Document, Groups, Kind, Room, Section, Table, Tone};
use std::fmt::Write;

/// How many rows and groups are shown where there may be many, and how many examples.
const ROWS: usize = 10;
const GROUPS: usize = 5;
const EXAMPLES: usize = 1;

/// Renders a document.
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    for warning in &document.warnings {
        let _ = writeln!(out, "**{}**\n", escaped(warning));
    }
    if let Some(answer) = &document.answer {
        let _ = writeln!(out, "## Stackwitness: {}\n", answer.verdict);
        if let Some(headline) = &answer.headline {
            let _ = writeln!(out, "**{}**\n", escaped(headline));
        }
        let reasons = answer.further_reasons();
        let items: String = reasons.map(|r| format!("- {}\n", escaped(r))).collect();
        if !items.is_empty() {
            let _ = writeln!(out, "{items}");
        }
    }
    let sections = document.sections.iter();
    for section in sections.filter(|section| section.room <= Room::Summary) {
        whole(&mut out, section);
    }
    out
}

fn whole(out: &mut String, section: &Section) {
    let folded = section.room == Room::Summary;
    match (section.title, folded) {
        ("", _) => {}
        (title, true) => {
            let _ = writeln!(out, "<details><summary>{}</summary>\n", xml(title));
        }
        (title, false) => {
            let _ = writeln!(out, "### {title}\n");
        }
    }
    blocks(out, &section.blocks);
    if folded {
        out.push_str("</details>\n\n");
    }
}

fn blocks(out: &mut String, blocks: &[Block]) {
    let mut examples = 0;
    for block in blocks {
        match block {
            Block::Note(text) => {
                let _ = writeln!(out, "{}\n", escaped(text));
            }
            Block::Link(text, page) => {
                let _ = writeln!(out, "[{}]({page})\n", escaped(text));
            }
            Block::Alone(text) | Block::Code(text) => out.push_str(&(fenced(text) + "\n")),
            Block::Table(whole) => table(out, whole),
            Block::Groups(all) => groups(out, all),
            Block::Example(example) => out.push_str(&(fenced(&as_example(example)) + "\n")),
            Block::Stacks(stacks) if examples < EXAMPLES => {
                examples += 1;
                out.push_str(&(fenced(&as_text(stacks)) + "\n"));
            }
            // There is no room for these.
            Block::Stacks(_) | Block::Flame(_) | Block::TwoFlames(_) => {}
        }
    }
}

fn groups(out: &mut String, all: &Groups) {
    let shown = if all.cut { GROUPS } else { usize::MAX };
    for group in all.groups.iter().take(shown) {
        let count = group.count.map_or(String::new(), |n| format!("{n} x "));
        // An element of HTML: entities are read there, backslashes are not.
        let title = xml(&group.title).replace('\n', " ");
        let _ = writeln!(out, "<details><summary>{count}{title}</summary>\n");
        blocks(out, &group.blocks);
        out.push_str("</details>\n\n");
    }
    if all.groups.len() > shown {
        let _ = writeln!(out, "{}\n", left_out(all.groups.len() - shown, "kinds"));
    }
}

fn table(out: &mut String, table: &Table) {
    let columns = table.columns.iter();
    let kept: Vec<bool> = columns.map(|c| c.kind != Kind::Drawings).collect();
    let mut line = |cells: Vec<String>| {
        let shown = cells.into_iter().zip(&kept).filter(|(_, kept)| **kept);
        let shown: Vec<String> = shown.map(|(cell, _)| cell).collect();
        let _ = writeln!(out, "| {} |", shown.join(" | "));
    };
    let columns = table.columns.iter();
    line(columns.clone().map(|c| escaped(c.name)).collect());
    let rule = |kind| match kind {
        Kind::Numbers => "---:".into(),
        Kind::Words | Kind::Drawings => "---".into(),
    };
    line(columns.map(|c| rule(c.kind)).collect());
    let shown = if table.cut { ROWS } else { usize::MAX };
    for row in table.rows.iter().take(shown) {
        let mut cells: Vec<String> = row.cells.iter().map(|c| escaped(&c.plain())).collect();
        // The only way to make a row stand out.
        if row.tone == Tone::Bad {
            cells[0] = format!("**{}**", cells[0]);
        }
        line(cells);
    }
    out.push('\n');
    if table.rows.len() > shown {
        let _ = writeln!(out, "{}\n", left_out(table.rows.len() - shown, "rows"));
    }
}
