//! Renders the results of Stackwitness: one model of a report, as text, Markdown, HTML and JUnit; and what is generated of the
//! documentation.
//!
//! The way of a report is the same for all formats:
//!
//! 1. the caller judges the report once ([`oracle::gate::decide`]) and gives the decision to every
//!    renderer, so that all of them and the exit code say the same;
//! 2. [`content`] turns report and decision into the [`model`]: sections with typed tables,
//!    foldable groups and pairs of stacks, and suites of test cases;
//! 3. [`mod@render`] turns the model into text for a terminal, Markdown for a CI system's summary, a
//!    page for a browser that is readable offline, JUnit XML for a CI system's list of tests, or
//!    annotations of a check of GitHub Actions.
//!
//! [`issue()`] writes an issue about one kind of mismatch. [`mod@listing`] renders generated code with what a walker answered at each instruction. [`published`] writes the parts of
//! the documentation that come from stored reports and from tables.
//!
//! To show something new, add it to a file of [`content`]: each format shows it. To add a format,
//! add a file to [`mod@render`]. This crate does no I/O, and escapes all text that comes from a JVM.
#![forbid(unsafe_code)]

pub mod content;
mod issue;
mod lines;
pub mod listing;
pub mod model;
mod numbers;
pub mod published;
pub mod render;
#[cfg(test)]
mod sample;

pub use issue::{Issue, issue};
pub use numbers::count;

use oracle::gate::{Baseline, Decision};
use oracle::report::Report;

/// How a report can look.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Format {
    /// One screen of a terminal.
    Brief(render::Style),
    /// The verdict in one line.
    Verdict(render::Style),
    /// The answer as JSON, for programs.
    Answer,
    /// All tables, for a terminal or a log.
    Text(render::Style),
    /// Markdown for a CI system's summary.
    Markdown,
    /// A page for a browser.
    Html,
    /// JUnit XML.
    Junit,
    /// Annotations of a check of GitHub Actions.
    Annotations,
    /// For `grep`: a line for each reason and each kind of mismatch.
    Lines,
}

/// Renders a report with the decision on it. `source` is where a reader finds the report itself.
pub fn render(report: &Report, decision: &Decision, source: &str, format: Format) -> String {
    let document = || content::report(report, decision, source);
    let summary = || content::summary(report, decision);
    match format {
        Format::Brief(style) => render::brief(&summary(), style),
        Format::Verdict(style) => render::verdict(&summary(), style),
        Format::Answer => render::answer(&summary()),
        Format::Text(style) => render::text(&document(), style),
        Format::Markdown => render::markdown(&document()),
        Format::Html => render::html(&summary(), &document()),
        Format::Junit => render::junit(&content::cases(report, decision)),
        Format::Annotations => render::annotations(&document()),
        Format::Lines => lines::lines(report, decision),
    }
}

/// The page of a comparison of a report with `base`. `sources`: where a reader finds the base, and the report itself.
pub fn compared(
    report: &Report,
    decision: &Decision,
    base: &Baseline,
    sources: [&str; 2],
) -> String {
    let [old, new] = sources;
    let mut document = content::report(report, decision, new);
    document.sections.insert(0, content::base(base, old));
    render::html(&content::summary(report, decision), &document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::gate::{Rule, decide};

    /// A bit of everything, in one format.
    fn shown(format: Format) -> String {
        let report = sample::report();
        let decision = decide(&report, Rule::ObservedRates, &[]);
        render(&report, &decision, "report.json", format)
    }

    #[test]
    fn text() {
        insta::assert_snapshot!(shown(Format::Text(render::Style::Plain)));
    }

    #[test]
    fn markdown() {
        insta::assert_snapshot!(shown(Format::Markdown));
    }

    #[test]
    fn junit() {
        insta::assert_snapshot!(shown(Format::Junit));
    }

    #[test]
    fn html() {
        let page = shown(Format::Html);
        // Style and script are files of their own.
        let body = page.split("<body>").nth(1);
        let body = body.and_then(|rest| rest.split("<script>").next());
        insta::assert_snapshot!(body.unwrap_or_default());
    }
}
