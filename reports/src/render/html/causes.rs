//! Causes as bars, by the counts of all mismatches.

use crate::model::{CauseCount, Summary};
use crate::numbers::{count, counted};
use maud::{Markup, html};

pub(super) fn section(of: &Summary) -> Markup {
    let (bad, imprecise): (Vec<&CauseCount>, Vec<&CauseCount>) =
        of.causes.iter().partition(|cause| !cause.is_imprecise);
    let most = of.causes.iter().map(CauseCount::total).max().unwrap_or(1);
    let all: u64 = bad.iter().map(|cause| cause.total()).sum();
    let only = bad.iter().filter(|cause| cause.only_hooked.is_some());
    let only: u64 = only.map(|cause| cause.total()).sum();
    html! {
        p.lead {
            (counted(all, "false stack", "false stacks")) ", by the cause that the evidence proves."
            @if only > 0 {
                " " (count(only)) " of them have causes that only programs with hooks showed in this report: "
                "a profiler of the original program may meet fewer."
            }
        }
        p.keys {
            span.key.hooked {} "in programs with hooks "
            span.key.plain {} "in unmodified programs"
        }
        ul.causes { @for cause in &bad { (row(cause, most)) } }
        @if !imprecise.is_empty() {
            h3 { "Imprecise, counted apart " small { "The physical frames are right, inlined frames are not." } }
            ul.causes { @for cause in &imprecise { (row(cause, most)) } }
        }
    }
}

fn row(of: &CauseCount, most: u64) -> Markup {
    let width = |n: u64| format!("width:{:.2}%", 100.0 * n as f64 / most.max(1) as f64);
    html! {
        li {
            div.what {
                strong {
                    @match &of.page {
                        Some(page) => a href=(page) { (of.name) },
                        None => (of.name),
                    }
                }
                @if let Some(bound) = &of.only_hooked { " " span.tag title=(bound) { "seen only with hooks" } }
                @if !of.is_known && !of.is_imprecise { " " span.tag.bad { "look at these first" } }
                br; small { (of.meaning) }
            }
            div.how {
                div.bar {
                    i.hooked style=(width(of.hooked)) {}
                    i.plain style=(width(of.plain)) {}
                    strong { (count(of.total())) }
                    small { (count(of.hooked)) " hooked, " (count(of.plain)) " unmodified" }
                }
                @if !of.why.is_empty() { p { (of.why) } }
                @if let Some(bound) = &of.only_hooked { p { small { (bound) } } }
                @if let Some(command) = &of.command { p { code { (command) } } }
            }
        }
    }
}
