//! One page for a browser. Everything is in the page, so that it can be read offline, printed and sent on.
//!
//! The page answers in the order of a reader's questions; the whole tables are folded at its end.

mod blocks;
mod causes;
mod cells;
mod checked;
mod flame;
mod head;
mod new;
mod page;
mod profiles;
mod rates;
mod scale;
mod stacks;
mod trust;

use crate::model::{Document, Section, Summary};
pub use checked::checked;
use page::{Page, Part};

/// Renders a page: the summary, and the whole document behind it.
pub fn html(summary: &Summary, document: &Document) -> String {
    let (new, raw): (Vec<&Section>, Vec<&Section>) = document
        .sections
        .iter()
        .partition(|section| new::IDS.contains(&section.id));
    let page = Page {
        title: format!(
            "{}, {}",
            summary.answer.outcome,
            summary.about.jvms.join(", ")
        ),
        warnings: &document.warnings,
        header: head::header(summary),
        cards: head::cards(summary),
        parts: parts(summary, &new, &raw),
        footer: head::footer(summary),
    };
    page.render()
}

/// The sections that have something to show.
fn parts(summary: &Summary, new: &[&Section], raw: &[&Section]) -> Vec<Part> {
    let mut parts = vec![];
    if !new.is_empty() {
        parts.push(Part::new(
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
        parts.push(Part::new(
            "rates",
            "How often",
            "How often is a stack false?",
            content,
        ));
    }
    if !summary.causes.is_empty() {
        let content = causes::section(summary);
        parts.push(Part::new("why", "Why", "Why?", content));
    }
    if !summary.examples.is_empty() {
        let content = stacks::section(summary);
        parts.push(Part::new("example", "Examples", "Show me one", content));
    }
    if !summary.is_about_profiles {
        parts.extend(profiles(summary));
    }
    if let Some((title, flames)) = &summary.flame {
        let content = flame::section(title, flames);
        parts.push(Part::new(
            "flame-graph",
            "Flame graph",
            "Where in the program?",
            content,
        ));
    }
    parts.push(Part::new(
        "trust",
        "Can I believe it",
        "Can I believe this report?",
        trust::section(&summary.trust),
    ));
    let content = blocks::folded(raw);
    parts.push(Part::new("raw", "All tables", "All tables", content));
    parts
}

fn profiles(summary: &Summary) -> Option<Part> {
    let is_asked = summary.rates.iter().any(|rate| rate.checks > 0);
    (is_asked || !summary.profiles.is_empty()).then(|| {
        Part::new(
            "matter",
            "Does it matter",
            "Does it matter for a profile?",
            profiles::section(summary),
        )
    })
}
