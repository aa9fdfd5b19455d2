//! Examples: both stacks side by side, aligned by their common frames.

use crate::model::{Aligned, AlignedRow, Example, Frame, RowKind, Stacks, Summary};
use maud::{Markup, html};

pub(super) fn section(of: &Summary) -> Markup {
    html! {
        p.lead {
            "One example of each kind. Both stacks are aligned by their common frames; what is marked is what is wrong."
        }
        @for (at, example) in of.examples.iter().enumerate() {
            details.example open[at == 0] {
                summary { strong { (example.name) } " \u{b7} " (example.title) " \u{b7} " code { (example.layer) } }
                (whole(example))
            }
        }
    }
}

fn whole(of: &Example) -> Markup {
    html! {
        (aligned(&of.walker, &of.stacks))
        @if !of.why.is_empty() { p.why { (of.why) } }
        dl {
            dt { "thread" } dd { (of.thread) }
            @for (name, value) in &of.evidence { dt { (name) } dd { code { (value) } } }
            @if let Some(command) = &of.command { dt { "alone" } dd { code { (command) } } }
        }
    }
}

/// A pair of stacks without a story.
pub(super) fn pair(of: &Stacks) -> Markup {
    html! {
        p { (of.title) " on thread " (of.thread) }
        (aligned("The walker", &Aligned::of(of)))
        @if !of.evidence.is_empty() {
            dl { @for (name, value) in &of.evidence { dt { (name) } dd { code { (value) } } } }
        }
    }
}

fn aligned(walker: &str, of: &Aligned) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label="Both stacks" {
            table.stacks {
                thead { tr { th scope="col" { (walker) " answered" } th scope="col" { "What was running" } th scope="col" { "Remark" } } }
                tbody { @for row in &of.rows { (frames(row)) } }
            }
        }
    }
}

fn frames(row: &AlignedRow) -> Markup {
    match row {
        AlignedRow::Gap(n) => html! {
            tr.gap { td colspan="3" { "\u{2026} " (n) " common or further frames" } }
        },
        AlignedRow::Frames {
            walker,
            truth,
            says,
        } => {
            let class = match says {
                RowKind::Same => "same",
                RowKind::OtherPlace => "elsewhere",
                RowKind::Invented => "invented",
                RowKind::Missing => "missing",
                RowKind::NoTruth => "no-truth",
            };
            html! {
                tr class=(class) {
                    td.walker.empty[walker.is_none()] { @if let Some(frame) = walker { (one(frame)) } }
                    td.truth.empty[truth.is_none()] { @if let Some(frame) = truth { (one(frame)) } }
                    td.note { (says.note()) }
                }
            }
        }
    }
}

/// A frame without its package and descriptor; both are in its tooltip.
fn one(frame: &Frame) -> Markup {
    let (name, place) = frame.short.split_once(" @").unwrap_or((&frame.short, ""));
    html! {
        span title=(frame.whole) {
            (name)
            @if !place.is_empty() { " " span.bci { "@" (place) } }
        }
    }
}
