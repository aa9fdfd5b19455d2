//! The answer in words.

use crate::content::names;
use crate::model::{Advice, Profile, Rate};
use crate::numbers::{count, counted, interval, part, share};
use oracle::gate::{Basis, Decision};
use oracle::report::Report;
use oracle::{ProgramKind, RecordedSampler, When};

/// Largest number of walkers that the answer names.
const WALKERS: usize = 2;

/// How true the stacks are, with the numbers. `answered`: the report says something else, too.
pub(super) fn of_stacks(report: &Report, rates: &[Rate], answered: bool) -> String {
    let mut sentences = vec![];
    let judged = || rates.iter().filter(|rate| rate.judged > 0);
    let mut walkers: Vec<Option<&str>> = vec![];
    for rate in judged().filter(|rate| !rate.is_foundation) {
        let walker = rate.layer.row().walker;
        if !walkers.contains(&walker) {
            walkers.push(walker);
        }
    }
    for walker in walkers.into_iter().take(WALKERS) {
        let of_walker = judged().filter(|rate| rate.layer.row().walker == walker);
        sentences.extend(of_one(report, &of_walker.collect::<Vec<_>>()));
    }
    sentences.extend(foundation(&judged().collect::<Vec<_>>()));
    if sentences.is_empty() && !answered {
        return "No stack was compared with a truth.".into();
    }
    sentences.join(" ")
}

/// Whether the report is about profiles: the JVM's own samplers are judged.
pub(super) fn asks_for_profiles(report: &Report) -> bool {
    let layers = report.layers.iter().map(|counts| counts.layer);
    let mut all = layers.chain(report.required.iter().copied());
    all.any(|layer| layer.row().when == When::Request)
}

/// How a walker did: at arbitrary instants if it was asked there, else where it was asked.
fn of_one(report: &Report, rates: &[&Rate]) -> Option<String> {
    let at_any_instant = |rate: &&&Rate| {
        let row = rate.layer.row();
        matches!(row.when, When::Signal | When::Request | When::Step)
    };
    let is = |kind: ProgramKind| move |rate: &&&Rate| rate.layer.row().program == kind;
    let any = || rates.iter().filter(at_any_instant);
    let main = any()
        .find(is(ProgramKind::Hooked))
        .or_else(|| any().find(is(ProgramKind::Unmodified)))
        .or_else(|| any().next())
        .or(rates.first())?;
    let plain = any()
        .find(is(ProgramKind::Unmodified))
        .filter(|plain| plain.layer != main.layer);
    let plain = plain.and_then(|plain| plain.rate());
    let plain = plain.map_or(String::new(), |rate| {
        format!(", {} in unmodified programs", share(rate))
    });
    let place = match main.layer.row().when {
        When::Signal => "In signal handlers ",
        When::Request if main.layer.is_of(RecordedSampler::Profiler) => "At its own signals ",
        When::Request => "When JFR asks, ",
        When::Step => "At every instruction ",
        When::Event => "In events ",
        When::Hook | When::Check | When::Suspend => "",
    };
    let (low, high) = main.interval?;
    let of = possessive(&names::of_report(report, main.layer));
    let answers = if main.unanswered > 0 {
        format!(
            ", and {} of the questions have no answer",
            part(main.unanswered, main.checks)
        )
    } else {
        String::new()
    };
    Some(match main.bad {
        0 => format!(
            "{place}{} of {of} {} judged stacks is false (below {}){plain}{answers}.",
            if place.is_empty() { "None" } else { "none" },
            count(main.judged),
            share(high)
        ),
        bad => format!(
            "{place}{} of {of} stacks are false ({}){plain}{answers}.",
            share(bad as f64 / main.judged as f64),
            interval(low, high)
        ),
    })
}

/// The name with what makes it an owner: `JFR's samples'`, `GetStackTrace's`.
fn possessive(name: &str) -> String {
    let end = if name.ends_with('s') { "'" } else { "'s" };
    format!("{name}{end}")
}

/// What the layers say on which all others rest.
fn foundation(rates: &[&Rate]) -> Option<String> {
    let base: Vec<&&Rate> = rates.iter().filter(|rate| rate.is_foundation).collect();
    let bad: Vec<String> = base
        .iter()
        .filter(|rate| rate.bad > 0)
        .map(|rate| {
            let mistakes = counted(rate.bad, "mismatch", "mismatches");
            format!(
                "{} ({mistakes} in layer {})",
                names::of_layer(rate.layer),
                rate.layer
            )
        })
        .collect();
    if !bad.is_empty() {
        let all = bad.join(", ");
        return Some(format!(
            "What the other layers rest on is false: {all}. So the other rows prove nothing."
        ));
    }
    let asks = base.iter().any(|rate| rate.layer.row().walker.is_some());
    asks.then(|| "GetStackTrace made no mistake.".into())
}

/// Which profiles can be trusted, if the report asks for them.
pub(super) fn of_profiles(report: &Report, profiles: &[Profile]) -> Option<String> {
    if !asks_for_profiles(report) {
        return None;
    }
    let once = Profile::once_each(profiles);
    let of = |advice: Advice| {
        let names = once.iter().filter(|of| of.advice == advice);
        let names: Vec<String> = names.map(|of| of.label(profiles)).collect();
        names.join(", ")
    };
    let parts = [
        ("trust", Advice::Trust),
        ("take care with", Advice::TakeCare),
        ("do not use", Advice::DoNotUse),
        ("too few instants to judge", Advice::TooFew),
    ];
    let parts = parts.map(|(verb, advice)| (verb, of(advice)));
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(verb, names)| format!("{verb} {names}"))
        .collect();
    (!parts.is_empty()).then(|| format!("Profiles: {}.", parts.join("; ")))
}

/// What the decision does not say.
pub(super) fn caveat(decided: &Decision) -> Option<String> {
    match decided.basis {
        Basis::ObservedRates | Basis::UpperBounds => Some(
            "Budgets are several times what today's JDKs show. No baseline was given, so this does not say \
             whether this JDK is worse than another."
                .into(),
        ),
        Basis::Baseline => None,
    }
}
