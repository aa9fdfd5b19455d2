//! One page for a browser. Everything is in the page, so that it can be read offline and sent on.

mod cells;
mod flame;
mod stacks;

use super::escape::xml;
use super::limits::left_out;
use crate::model::{Block, Document, Groups};
use std::fmt::Write;

/// How many groups are shown where there may be many, and how many examples of each.
const GROUPS: usize = 30;
const EXAMPLES: usize = 3;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders a document.
pub fn html(document: &Document) -> String {
    let outcome = document.answer.as_ref().map(|answer| answer.outcome);
    let title = outcome.map_or("report".into(), |outcome| outcome.to_string());
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    let _ = write!(
        out,
        "<title>Stackwitness: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>Stackwitness</h1>\n"
    );
    if let Some(answer) = &document.answer {
        let outcome = answer.outcome;
        let _ = writeln!(out, "<p class=\"verdict {}\">{outcome}</p>", outcome.name());
        if let Some(headline) = &answer.headline {
            let _ = writeln!(out, "<p class=\"news\">{}</p>", xml(headline));
        }
        let reasons = answer.further_reasons();
        let items: String = reasons.map(|r| format!("<li>{}</li>", xml(r))).collect();
        if !items.is_empty() {
            let _ = writeln!(out, "<ul>{items}</ul>");
        }
    }
    out += "</header>\n";
    for section in &document.sections {
        let _ = write!(out, "<section id=\"{}\">", section.id);
        if !section.title.is_empty() {
            let _ = write!(out, "<h2>{}</h2>", section.title);
        }
        out.push('\n');
        blocks(&mut out, &section.blocks, 0);
        out += "</section>\n";
    }
    let _ = write!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

fn blocks(out: &mut String, blocks: &[Block], depth: usize) {
    let mut examples = 0;
    for block in blocks {
        match block {
            Block::Note(text) => {
                let _ = writeln!(out, "<p>{}</p>", xml(text));
            }
            Block::Link(text, page) => {
                let _ = writeln!(out, "<p><a href=\"{}\">{}</a></p>", xml(page), xml(text));
            }
            Block::Code(text) => {
                let _ = writeln!(out, "<p><code>{}</code></p>", xml(text));
            }
            Block::Table(table) => cells::table(out, table),
            Block::Groups(all) => groups(out, all, depth),
            Block::Stacks(one) if examples < EXAMPLES => {
                examples += 1;
                stacks::stacks(out, one);
            }
            Block::Example(one) => stacks::stacks(out, one),
            Block::Stacks(_) => {}
            Block::Flame(one) => flame::one(out, one),
            Block::TwoFlames(both) => flame::two(out, both),
        }
    }
}

fn groups(out: &mut String, all: &Groups, depth: usize) {
    let class = ["", " class=\"kind\""][depth.min(1)];
    let shown = if all.cut { GROUPS } else { usize::MAX };
    for group in all.groups.iter().take(shown) {
        let open = if group.open { " open" } else { "" };
        let count = group
            .count
            .map_or(String::new(), |n| format!("<b>{n}</b> "));
        let title = xml(&group.title);
        let _ = writeln!(
            out,
            "<details{class}{open}><summary>{count}{title}</summary>"
        );
        blocks(out, &group.blocks, depth + 1);
        *out += "</details>\n";
    }
    if all.groups.len() > shown {
        let _ = writeln!(
            out,
            "<p>{}</p>",
            left_out(all.groups.len() - shown, "kinds")
        );
    }
}
