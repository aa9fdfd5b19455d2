//! A dot plot of the rates on a logarithmic scale.

use super::scale::{Scale, style};
use crate::model::{Rate, Tone};
use crate::numbers::{count, exact, interval, one_in, share};
use maud::{Markup, html};

/// The scale of these rates and their budgets.
fn scale(rates: &[Rate]) -> Scale {
    Scale::up_to(rates.iter().filter_map(|rate| {
        let high = rate.interval?.1;
        Some(high.max(rate.budget.unwrap_or(0.0)))
    }))
}

pub(super) fn section(rates: &[Rate]) -> Markup {
    let scale = scale(rates);
    let (base, tried): (Vec<&Rate>, Vec<&Rate>) = rates.iter().partition(|rate| rate.is_foundation);
    html! {
        p.lead {
            "One row for each comparison. The dot is the share of false stacks on a logarithmic scale, the line its 95 % "
            "interval, a pale dot one program. A dotted line means that no stack was false: the true rate lies on it. "
            "The shaded part is over the budget."
        }
        @if !base.is_empty() {
            (group("What the rest is built on", "One mismatch here, and the rows below prove nothing.", &base, &scale))
        }
        @if !tried.is_empty() {
            (group("The walkers on trial", "These are the functions that profilers call.", &tried, &scale))
        }
        p.foot { "Intervals assume independent checks. Checks of one program are alike, so the true intervals are wider." }
    }
}

fn group(title: &str, note: &str, rates: &[&Rate], scale: &Scale) -> Markup {
    html! {
        h3 { (title) " " small { (note) } }
        (scale.axis())
        ul.rates { @for rate in rates { (row(rate, scale)) } }
    }
}

fn row(rate: &Rate, scale: &Scale) -> Markup {
    html! {
        li.failed[rate.tone == Tone::Bad] {
            div.what {
                strong { (rate.title) } " " code { (rate.layer) }
                br; small { (rate.against) }
            }
            div.strip aria-hidden="true" { (marks(rate, scale)) }
            div.numbers { (numbers(rate)) }
        }
    }
}

fn marks(rate: &Rate, scale: &Scale) -> Markup {
    let budget = rate.budget.filter(|&budget| budget > 0.0 && budget < 1.0);
    html! {
        (scale.grid())
        @if let Some(budget) = budget {
            @let at = scale.at(budget);
            i.over style=(style(at, Some(100.0 - at))) {}
            i.limit style=(style(at, None)) {}
        }
        @for (_, bad, judged) in rate.programs.iter().filter(|(_, bad, _)| *bad > 0) {
            i.program style=(style(scale.at(*bad as f64 / *judged as f64), None)) {}
        }
        @if let (Some((low, high)), Some(seen)) = (rate.interval, rate.rate()) {
            @if rate.bad == 0 {
                i.none style=(style(0.0, Some(scale.at(high).max(0.8)))) {}
            } @else {
                @let (from, to) = (scale.at(low), scale.at(high));
                i.ci style=(style(from, Some((to - from).max(0.3)))) {}
                i.dot style=(style(scale.at(seen), None)) {}
            }
        }
    }
}

fn numbers(rate: &Rate) -> Markup {
    let budget = match rate.budget {
        None => String::new(),
        Some(0.0) => "no mismatch is allowed".into(),
        Some(budget) => format!("budget {}", exact(budget)),
    };
    html! {
        @match (rate.rate(), rate.interval) {
            (Some(_), Some((_, high))) if rate.bad == 0 => {
                strong { "0" } " of " (count(rate.judged))
                br; small { "below " (share(high)) @if high >= 1e-6 { ", " (one_in(high)) } }
            }
            (Some(seen), Some((low, high))) => {
                strong { (share(seen)) } " \u{b7} " (count(rate.bad)) " of " (count(rate.judged))
                br; small { (interval(low, high)) }
            }
            _ => { strong { "no data" } }
        }
        small.standing {
            (budget)
            @if rate.tone != Tone::Good { @if !budget.is_empty() { ": " } strong { (rate.standing) } }
        }
    }
}
