//! Annotations of a check of GitHub Actions: one workflow command a line
//! (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).

use super::escape::visible;
use crate::model::{Answer, Block, Document};
use oracle::outcome::Outcome;
use std::fmt::Write;

/// GitHub shows so many annotations of one kind for each step.
const SHOWN: usize = 10;

/// The section of what became better.
const BETTER: &str = "better";

/// Renders the answer of a document: an error for each reason, a notice for each improvement, and a notice
/// where nothing speaks against the report. Nothing for a document without an answer.
pub fn annotations(document: &Document) -> String {
    let mut out = String::new();
    let Some(answer) = &document.answer else {
        return out;
    };
    let title = format!("Stackwitness: {}", answer.verdict);
    for reason in answer.reasons.iter().take(SHOWN) {
        line(&mut out, "error", &title, reason);
    }
    if let Some(news) = news(answer) {
        line(&mut out, "notice", &title, news);
    }
    let sections = document.sections.iter();
    let better = sections.filter(|section| section.id == BETTER);
    let notes = better.flat_map(|section| &section.blocks);
    let notes = notes.filter_map(|block| match block {
        Block::Note(text) => Some(text),
        _ => None,
    });
    for note in notes.take(SHOWN - 1) {
        line(&mut out, "notice", "Stackwitness: less than before", note);
    }
    out
}

/// What is said where nothing speaks against the report.
fn news(answer: &Answer) -> Option<&str> {
    let all_well = "every layer is within its budget";
    let is_well = answer.outcome == Outcome::Within;
    is_well.then(|| answer.headline.as_deref().unwrap_or(all_well))
}

fn line(out: &mut String, command: &str, title: &str, text: &str) {
    let (title, text) = (escaped(title), escaped(text));
    let title = title.replace(':', "%3A").replace(',', "%2C");
    let _ = writeln!(out, "::{command} title={title}::{text}");
}

/// Text of which nothing is a command or ends one.
fn escaped(text: &str) -> String {
    visible(text).replace('%', "%25")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_in_a_command() {
        let answer = Answer {
            outcome: Outcome::Over,
            verdict: Outcome::Over.to_string(),
            headline: None,
            reasons: vec!["100 %\n::stop-commands::x".into(); 2 * SHOWN],
        };
        let document = Document {
            warnings: vec![],
            answer: Some(answer),
            sections: vec![],
        };
        let shown = annotations(&document);
        assert_eq!(shown.lines().count(), SHOWN);
        let expected = "::error title=Stackwitness%3A over budget::100 %25\\n::stop-commands::x";
        assert_eq!(shown.lines().next(), Some(expected));
    }
}
