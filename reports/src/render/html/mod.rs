//! One page for a browser. Everything is in the page, so that it can be read offline, printed and sent on.
//!
//! The page answers in the order of a reader's questions; the whole tables are folded at its end.

mod blocks;
mod causes;
mod cells;
mod flame;
mod head;
mod new;
mod profiles;
mod rates;
mod stacks;
mod trust;

use super::escape::visible_lines;
use crate::model::{Document, Section, Summary};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders a page: the summary, and the whole document behind it.
pub fn html(summary: &Summary, document: &Document) -> String {
    let (new, raw): (Vec<&Section>, Vec<&Section>) = document
        .sections
        .iter()
        .partition(|section| new::IDS.contains(&section.id));
    let parts = parts(summary, &new, &raw);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Stackwitness: " (summary.answer.outcome) ", " (summary.about.jvms.join(", ")) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                @for warning in &document.warnings {
                    p.warning role="alert" { (warning) }
                }
                (head::header(summary))
                nav aria-label="Sections" {
                    @for part in &parts {
                        a href={ "#" (part.id) } { (part.name) }
                    }
                }
                main id="main" {
                    (head::cards(summary))
                    @for part in &parts {
                        section id=(part.id) aria-labelledby={ (part.id) "-title" } {
                            h2 id={ (part.id) "-title" } { (part.title) }
                            (part.content)
                        }
                    }
                }
                (head::footer(summary))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Names of other programs may hold characters that change the direction of text.
    visible_lines(&page.into_string())
}

/// A section of the page.
struct Part {
    id: &'static str,
    /// Its name in the navigation.
    name: &'static str,
    title: &'static str,
    content: Markup,
}

fn part(id: &'static str, name: &'static str, title: &'static str, content: Markup) -> Part {
    Part {
        id,
        name,
        title,
        content,
    }
}

/// The sections that have something to show.
fn parts(summary: &Summary, new: &[&Section], raw: &[&Section]) -> Vec<Part> {
    let mut parts = vec![];
    if !new.is_empty() {
        parts.push(part(
            "new-since",
            "What is new",
            "What is new since the baseline?",
            new::sections(new),
        ));
    }
    if summary.is_about_profiles {
        parts.extend(profiles(summary));
    }
    if !summary.rates.is_empty() {
        let content = rates::section(&summary.rates);
        parts.push(part(
            "rates",
            "How often",
            "How often is a stack false?",
            content,
        ));
    }
    if !summary.causes.is_empty() {
        let content = causes::section(summary);
        parts.push(part("why", "Why", "Why?", content));
    }
    if !summary.examples.is_empty() {
        let content = stacks::section(summary);
        parts.push(part("example", "Examples", "Show me one", content));
    }
    if !summary.is_about_profiles {
        parts.extend(profiles(summary));
    }
    if let Some((title, flames)) = &summary.flame {
        let content = flame::section(title, flames);
        parts.push(part(
            "flame-graph",
            "Flame graph",
            "Where in the program?",
            content,
        ));
    }
    parts.push(part(
        "trust",
        "Can I believe it",
        "Can I believe this report?",
        trust::section(&summary.trust),
    ));
    let content = blocks::folded(raw);
    parts.push(part("raw", "All tables", "All tables", content));
    parts
}

fn profiles(summary: &Summary) -> Option<Part> {
    let is_asked = summary.rates.iter().any(|rate| rate.checks > 0);
    (is_asked || !summary.profiles.is_empty()).then(|| {
        part(
            "matter",
            "Does it matter",
            "Does it matter for a profile?",
            profiles::section(summary),
        )
    })
}
