//! How often stacks are false, layer by layer.

use super::plain::is_plain;
use crate::content::decision::standing;
use crate::content::names;
use crate::model::{Rate, Tone};
use hotspot::walkers::Walker;
use oracle::gate::{Basis, Decision, LayerDecision, Standing};
use oracle::observer::Occurrence;
use oracle::outcome::Outcome;
use oracle::report::{LayerCounts, Report};
use oracle::{Layer, LayerRow, ProgramKind, RecordedSampler, When};

/// A row for each layer that was measured or asked for.
pub(super) fn rates(report: &Report, decided: &Decision) -> Vec<Rate> {
    let layers = decided.layers.iter();
    layers.map(|layer| rate(report, decided, layer)).collect()
}

fn rate(report: &Report, decided: &Decision, of: &LayerDecision) -> Rate {
    let layer = of.layer;
    let row = layer.row();
    let counts = report.layer(layer);
    let tally = counts.map(LayerCounts::tally).unwrap_or_default();
    let (bad, judged) = (tally.mismatches(), tally.decided());
    let seen = Occurrence {
        count: bad,
        checks: judged,
    };
    Rate {
        layer,
        title: title(report, layer),
        against: against(row),
        is_foundation: is_foundation(layer),
        is_plain: row.program == ProgramKind::Unmodified,
        bad,
        judged,
        interval: (judged > 0).then(|| seen.interval()),
        programs: programs(report, layer),
        imprecise: tally.imprecise,
        unanswered: tally.errors(),
        unverifiable: tally.unverifiable,
        checks: tally.checks(),
        budget: (decided.basis != Basis::Baseline || of.budget == 0.0).then_some(of.budget),
        standing: standing(&of.standing),
        tone: match (of.outcome(), &of.standing) {
            (Outcome::Within, Standing::Passes) => Tone::Good,
            (Outcome::Within, _) => Tone::Plain,
            _ => Tone::Bad,
        },
    }
}

/// The walker of a layer, and the instants at which it is asked.
pub(in crate::content) fn title(report: &Report, layer: Layer) -> String {
    let walker = names::of_report(report, layer);
    format!("{walker}, {}", instant(layer))
}

/// False and judged stacks of each program, in the order of the runs.
fn programs(report: &Report, layer: Layer) -> Vec<(String, u64, u64)> {
    let mut all: Vec<(String, u64, u64)> = vec![];
    for run in &report.runs {
        let Some(counts) = run.layers.iter().find(|counts| counts.layer == layer) else {
            continue;
        };
        let tally = counts.tally();
        let known = all.iter_mut().find(|(name, ..)| *name == run.scenario);
        match known {
            Some((_, bad, judged)) => {
                *bad += tally.mismatches();
                *judged += tally.decided();
            }
            None => all.push((run.scenario.clone(), tally.mismatches(), tally.decided())),
        }
    }
    all.retain(|&(.., judged)| judged > 0);
    all
}

/// Whether other layers rest on this one: it judges the hooks, or GetStackTrace, which is a truth of other layers.
pub(crate) fn is_foundation(layer: Layer) -> bool {
    Walker::of(layer).is_none_or(|walker| walker.is_foundation)
}

fn instant(layer: Layer) -> &'static str {
    match layer.row().when {
        When::Hook => "at every recorded call",
        When::Check => "in a hook",
        When::Event => "in events",
        When::Signal => "in signal handlers",
        When::Suspend => "of a suspended thread",
        When::Step => "at every instruction",
        When::Request if layer.is_of(RecordedSampler::Profiler) => "at its own signals",
        When::Request => "when JFR asks",
    }
}

fn against(row: &LayerRow) -> String {
    let truths = row.truths.iter().map(|truth| truth.shown());
    let truths: Vec<&str> = truths.collect();
    let program = match row.program {
        ProgramKind::Hooked | ProgramKind::Either => "",
        ProgramKind::Unmodified => "unmodified program, ",
    };
    format!("{program}against {}", truths.join(" and "))
}

/// Judged stacks of unmodified programs, over all layers that ask AsyncGetCallTrace or another walker on trial.
pub(super) fn judged_plain(report: &Report) -> u64 {
    let runs = report.runs.iter().filter(|run| is_plain(run));
    let layers = runs.flat_map(|run| &run.layers);
    let on_trial = layers.filter(|counts| !is_foundation(counts.layer));
    on_trial.map(|counts| counts.tally().decided()).sum()
}
