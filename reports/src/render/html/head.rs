//! The top of the page: what was judged, the answer, and the most important numbers. And its end.

use crate::model::{Rate, Summary, Tone};
use crate::numbers::{count, counted, duration, interval, part, share, tenths};
use maud::{Markup, html};

pub(super) fn header(of: &Summary) -> Markup {
    let (about, answer) = (&of.about, &of.answer);
    html! {
        header {
            p.crumb {
                "Stackwitness report"
                @for jvm in about.jvms.iter().take(6) { " \u{b7} " (jvm) }
                @if about.jvms.len() > 6 { " and " (about.jvms.len() - 6) " more" }
                @if !about.scenario.is_empty() { " \u{b7} scenario " code { (about.scenario) } }
                " \u{b7} " (counted(about.runs as u64, "JVM", "JVMs")) ", " (duration(about.seconds))
                @if let Some(seeds) = about.shown_seeds() { " \u{b7} " (seeds) }
                @if let Some(origin) = about.origins.first() { " \u{b7} " (origin.started) }
            }
            // A number stays with its unit. A reader takes in one sentence at a glance, so the others are smaller.
            @let sentence = of.sentences().replace(" %", "\u{a0}%");
            @let (first, others) = sentence.split_once(". ").unwrap_or((&sentence, ""));
            h1 { (first) @if !others.is_empty() { "." } }
            @if !others.is_empty() { p.rest { (others) } }
            p.verdict.(answer.outcome.name()) {
                // Of profiles the pill says nothing: those with few false stacks can mislead, too.
                span.pill { @if of.is_about_profiles { "false stacks: " } (answer.outcome) }
                @if let Some(headline) = &answer.headline { " " strong { (headline) } }
            }
            @let reasons: Vec<&String> = answer.further_reasons().collect();
            @if !reasons.is_empty() {
                ul.reasons {
                    @for reason in reasons.iter().take(8) { li { (reason) } }
                    @if reasons.len() > 8 { li { "and " (reasons.len() - 8) " more, in " code { "report.json" } } }
                }
            }
            @if let Some(caveat) = &of.caveat { p.caveat { (caveat) } }
        }
    }
}

/// Up to four numbers: GetStackTrace, the walkers on trial, and a profile.
pub(super) fn cards(of: &Summary) -> Markup {
    let judged = || of.rates.iter().filter(|rate| rate.judged > 0);
    let base = judged().find(|rate| rate.is_foundation && rate.layer.row().walker.is_some());
    let mut on_trial: Vec<&Rate> = judged().filter(|rate| !rate.is_foundation).collect();
    // Of layers that ask the same question by different truths, the one with most stacks: its rate is that of the headline.
    // But no card says "0 false" of a walker that the headline calls false.
    let weight = |of: &Rate| (of.bad > 0, of.judged);
    let sees_more = |one: &Rate, other: &Rate| {
        (&one.title, one.is_plain) == (&other.title, other.is_plain) && weight(one) > weight(other)
    };
    on_trial.retain(|rate| !judged().any(|other| sees_more(other, rate)));
    // The most questions at arbitrary instants say most.
    on_trial.sort_by_key(|rate| {
        use oracle::When::{Request, Signal, Step};
        let is_arbitrary = matches!(rate.layer.row().when, Signal | Request | Step);
        (!is_arbitrary, std::cmp::Reverse(rate.judged))
    });
    let profile = of
        .profiles
        .iter()
        .max_by_key(|of| (!of.program.contains("fixtures"), of.asked));
    let on_trial = on_trial
        .into_iter()
        .take(if profile.is_some() { 2 } else { 3 });
    html! {
        div.cards {
            @for rate in base.into_iter().chain(on_trial) { (card(rate)) }
            @if let Some((profile, overlap)) = profile.and_then(|of| Some((of, of.overlap?))) {
                div.card {
                    p.k { "Profile of " (profile.program) ", " (profile.title) }
                    p.v { (tenths(overlap)) " overlap" }
                    p.d {
                        (counted(profile.misnamed() as u64, "method", "methods")) " misnamed \u{b7} "
                        (part(profile.lost, profile.asked)) " lost"
                    }
                }
            }
        }
    }
}

fn card(rate: &Rate) -> Markup {
    let class = match (rate.bad, rate.tone) {
        (0, _) => "v good",
        (_, Tone::Bad) => "v bad",
        _ => "v",
    };
    let (low, high) = rate.interval.unwrap_or((0.0, 1.0));
    html! {
        div.card {
            p.k { (rate.title) @if rate.is_plain { ", unmodified program" } }
            @match rate.rate() {
                Some(seen) if rate.bad > 0 => {
                    p class=(class) { (share(seen)) " false" }
                    p.d { (count(rate.bad)) " of " (count(rate.judged)) " \u{b7} " (interval(low, high)) }
                }
                _ => {
                    p class=(class) { "0 false" }
                    p.d { "of " (count(rate.judged)) " judged \u{b7} below " (share(high)) }
                }
            }
        }
    }
}

pub(super) fn footer(of: &Summary) -> Markup {
    let (kept, all) = of.evidence;
    html! {
        footer {
            p {
                "Evidence of " (count(kept)) " of " (counted(all, "mismatch", "mismatches")) " is in "
                code { "report.json" } " beside this page. All counts on this page are those of all mismatches."
            }
        }
    }
}
