//! The page of a check: the answer in words, what is worse and where, with an example of each kind, and the shares of both
//! builds beside each other.

use super::blocks::{Level, blocks, folded};
use super::page::{Page, Part};
use super::scale::{Scale, style};
use crate::model::{Checked, Finding, Section, Shares, Tone};
use crate::numbers::{count, counted, duration, share};
use maud::{Markup, html};
use oracle::observer::Occurrence;

/// Renders the page of a check.
pub fn checked(of: &Checked) -> String {
    let page = Page {
        title: format!("{}, {}", of.answer.verdict, of.builds[1]),
        warnings: &of.warnings,
        header: header(of),
        cards: html! {},
        parts: parts(of),
        footer: footer(),
    };
    page.render()
}

fn header(of: &Checked) -> Markup {
    let [base, new] = &of.builds;
    let headline = of.answer.headline.as_deref().unwrap_or_default();
    // A number stays with its unit. A reader takes in one sentence at a glance, so the rest is smaller.
    let headline = headline.replace(" %", "\u{a0}%");
    let (first, rest) = headline.split_once(": ").unwrap_or((&headline, ""));
    html! {
        header {
            p.crumb {
                "Stackwitness check \u{b7} new build: " (new) " \u{b7} base: " (base) " \u{b7} "
                (counted(of.pairs as u64, "pair of turns", "pairs of turns")) ", " (duration(60.0 * of.minutes))
            }
            h1 { (capital(first)) @if !rest.is_empty() { ":" } }
            @if !rest.is_empty() { p.rest { (rest) } }
            p.verdict.(of.answer.outcome.name()) { span.pill { (of.answer.verdict) } }
        }
    }
}

/// The text with a capital letter at its beginning.
fn capital(text: &str) -> String {
    let mut rest = text.chars();
    match rest.next() {
        Some(first) => first.to_uppercase().chain(rest).collect(),
        None => String::new(),
    }
}

fn footer() -> Markup {
    html! {
        footer {
            p {
                "The reports of both builds are beside this page, in " code { "base" } " and " code { "new" } ": "
                code { "stackwitness render DIR" } " shows one."
            }
        }
    }
}

fn parts(of: &Checked) -> Vec<Part> {
    let (sure, open): (Vec<&Finding>, Vec<&Finding>) =
        of.findings.iter().partition(|finding| finding.is_sure);
    let mut parts = vec![];
    for (id, name, title, findings) in [
        ("worse", "What is worse", "What is worse, and where?", sure),
        (
            "open",
            "What looks worse",
            "What looks worse, and may be chance?",
            open,
        ),
    ] {
        if !findings.is_empty() {
            let content = html! { @for (at, finding) in findings.iter().enumerate() { (one(finding, at == 0)) } };
            parts.push(Part::new(id, name, title, content));
        }
    }
    if parts.is_empty() {
        let content =
            html! { p { "No kind of answer was more frequent in the new build beyond chance." } };
        parts.push(Part::new(
            "worse",
            "What is worse",
            "What is worse?",
            content,
        ));
    }
    for (id, name, title, event, shares) in [
        (
            "false",
            "False stacks",
            "How often is a stack false?",
            "false stacks",
            &of.falsehoods,
        ),
        (
            "no-answer",
            "No answer",
            "How often is there no answer?",
            "questions without an answer",
            &of.unanswered,
        ),
    ] {
        if !shares.is_empty() {
            parts.push(Part::new(id, name, title, dots(shares, event)));
        }
    }
    let tables: Vec<&Section> = of.tables.iter().collect();
    parts.push(Part::new(
        "raw",
        "All tables",
        "All tables",
        folded(&tables),
    ));
    parts
}

fn one(of: &Finding, is_open: bool) -> Markup {
    html! {
        details.example open[is_open] {
            summary { strong { (of.title) } }
            (blocks(&of.blocks, Level::TOP))
        }
    }
}

/// That at most this share or more is false tells nothing.
const TELLING: f64 = 0.5;

/// A row for each layer: base and new build on one scale.
fn dots(all: &[Shares], event: &str) -> Markup {
    let highs = all
        .iter()
        .flat_map(|row| row.counts.map(|counts| interval(counts).1));
    let scale = Scale::up_to(highs);
    html! {
        p.lead {
            "Share of " (event) " in each layer, on a logarithmic scale: above "
            i.key.base {} "the base, below " i.key.new {} "the new build, each with its 95 % interval. A dotted line means that "
            "there was none: the true share lies on it."
        }
        (scale.axis())
        ul.rates { @for row in all { (compared(row, &scale)) } }
        p.foot {
            "Intervals assume independent questions. The answer does not: it compares the turns of each pair."
        }
    }
}

fn interval((events, checks): (u64, u64)) -> (f64, f64) {
    let seen = Occurrence {
        count: events,
        checks,
    };
    seen.interval()
}

fn compared(of: &Shares, scale: &Scale) -> Markup {
    let [base, new] = of.counts;
    html! {
        li.failed[of.tone == Tone::Bad] {
            div.what { strong { (of.title) } br; code { (of.layer) } }
            div.strip aria-hidden="true" {
                (scale.grid())
                div.base { (marks(base, scale)) }
                div.new { (marks(new, scale)) }
            }
            div.numbers {
                "base " (told(base)) br;
                strong { "new " (told(new)) }
                small.standing {
                    @match (of.tone, of.at_most) {
                        (Tone::Bad, _) => strong { "worse" },
                        (_, Some(more)) if more < TELLING => { "at most " (share(more)) " more" }
                        _ => "too few turns to say how much more",
                    }
                }
            }
        }
    }
}

fn marks(counts: (u64, u64), scale: &Scale) -> Markup {
    let (low, high) = interval(counts);
    let (from, to) = (scale.at(low), scale.at(high));
    html! {
        @if counts.0 == 0 {
            i.none style=(style(0.0, Some(to.max(0.8)))) {}
        } @else {
            i.ci style=(style(from, Some((to - from).max(0.3)))) {}
            i.dot style=(style(scale.at(counts.0 as f64 / counts.1 as f64), None)) {}
        }
    }
}

fn told((events, checks): (u64, u64)) -> String {
    match events {
        0 => format!("0 of {}", count(checks)),
        _ => format!(
            "{} \u{b7} {} of {}",
            share(events as f64 / checks as f64),
            count(events),
            count(checks)
        ),
    }
}
