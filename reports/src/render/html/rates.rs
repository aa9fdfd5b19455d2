//! A dot plot of the rates on a logarithmic scale.

use crate::model::{Rate, Tone};
use crate::numbers::{count, exact, interval, one_in, share};
use maud::{Markup, html};

/// The scale begins here at the latest, and ends here at the earliest: powers of ten.
const LOWEST: i32 = -6;
const HIGHEST: i32 = -1;

/// A logarithmic scale over whole powers of ten.
struct Scale {
    from: i32,
    to: i32,
}

impl Scale {
    fn of(rates: &[Rate]) -> Scale {
        let highs = rates.iter().filter_map(|rate| {
            let high = rate.interval?.1;
            Some(high.max(rate.budget.unwrap_or(0.0)))
        });
        let highest = highs.fold(0.0, f64::max);
        Scale {
            from: LOWEST,
            to: (highest.log10().ceil() as i32).clamp(HIGHEST, 0),
        }
    }

    /// The place of a rate, in per cent of the width.
    fn at(&self, rate: f64) -> f64 {
        let width = f64::from(self.to - self.from);
        let place = (rate.max(1e-300).log10() - f64::from(self.from)) / width;
        100.0 * place.clamp(0.0, 1.0)
    }
}

pub(super) fn section(rates: &[Rate]) -> Markup {
    let scale = Scale::of(rates);
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
        div.axis aria-hidden="true" {
            div.strip {
                @for power in scale.from..=scale.to {
                    @let at = 100.0 * f64::from(power - scale.from) / f64::from(scale.to - scale.from);
                    span.tick.odd[power % 2 != 0] style={ "left:" (format!("{at:.2}")) "%" } {
                        (exact(10f64.powi(power))) br;
                        // Neighbours would overlap.
                        @if power % 2 == 0 { small { "1 in " (count(10u64.pow(power.unsigned_abs()))) } }
                    }
                }
            }
        }
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

fn style(left: f64, width: Option<f64>) -> String {
    match width {
        None => format!("left:{left:.2}%"),
        Some(width) => format!("left:{left:.2}%;width:{width:.2}%"),
    }
}

fn marks(rate: &Rate, scale: &Scale) -> Markup {
    let grid = (scale.from..=scale.to).map(|power| scale.at(10f64.powi(power)));
    let budget = rate.budget.filter(|&budget| budget > 0.0 && budget < 1.0);
    html! {
        @for at in grid { i.grid style=(style(at, None)) {} }
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
