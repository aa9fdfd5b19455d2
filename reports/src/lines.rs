//! Lines for `grep`: one for each reason against a report, and one for each kind of mismatch in a layer that fails.

use oracle::Layer;
use oracle::gate::{Decision, Subject};
use oracle::outcome::Outcome;
use oracle::record::KindCount;
use oracle::report::Report;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::render::visible;

/// The lines. There are none where nothing speaks against the report.
pub fn lines(report: &Report, decided: &Decision) -> String {
    let mut text = String::new();
    for reason in &decided.reasons {
        let _ = writeln!(text, "{}: {}", decided.outcome, visible(&reason.text));
    }
    for (kind, programs) in kinds(report, |layer| fails(decided, layer)) {
        let cause = kind.cause.as_ref().map_or("-", |cause| cause.as_str());
        let _ = writeln!(
            text,
            "mismatch: {} {} {cause} at {}: {} in {}",
            kind.layer,
            kind.verdict.name(),
            visible(&kind.place),
            kind.count,
            visible(&programs.join(", "))
        );
    }
    text
}

/// Whether a layer speaks against the report.
fn fails(decided: &Decision, layer: Layer) -> bool {
    let is_over = decided
        .layer(layer)
        .is_some_and(|of| of.outcome() == Outcome::Over);
    let subject = Subject::Layer(layer);
    is_over
        || decided
            .about(&subject)
            .any(|reason| reason.outcome == Outcome::Over)
}

/// The kinds of mismatches in some layers, summed over all runs, with the programs that show them; the most frequent of
/// each layer first.
fn kinds(report: &Report, of: impl Fn(Layer) -> bool) -> Vec<(KindCount, Vec<String>)> {
    let mut all: Vec<(KindCount, Vec<String>)> = vec![];
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for run in &report.runs {
        for kind in run.kinds.iter().filter(|kind| of(kind.layer)) {
            let key = format!(
                "{} {} {:?} {}",
                kind.layer,
                kind.verdict.name(),
                kind.cause,
                kind.place
            );
            let place = *at.entry(key).or_insert_with(|| {
                let none = KindCount {
                    count: 0,
                    ..kind.clone()
                };
                all.push((none, vec![]));
                all.len() - 1
            });
            let (sum, programs) = &mut all[place];
            sum.count += kind.count;
            let title = run.title();
            if !programs.contains(&title) {
                programs.push(title);
            }
        }
    }
    all.sort_by_key(|(kind, _)| (kind.layer, Reverse(kind.count)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::gate::{Rule, decide};

    #[test]
    fn each_kind_of_a_layer_that_fails_has_one_line() {
        let report = crate::sample::report();
        let decided = decide(&report, Rule::ObservedRates, &[]);
        let text = lines(&report, &decided);
        assert_eq!(text.is_empty(), decided.reasons.is_empty());
        let mismatches = text.lines().filter(|line| line.starts_with("mismatch: "));
        let failing = |kind: &&KindCount| fails(&decided, kind.layer);
        let mut kinds: Vec<String> = report
            .runs
            .iter()
            .flat_map(|run| &run.kinds)
            .filter(failing)
            .map(|kind| {
                format!(
                    "{} {} {:?} {}",
                    kind.layer,
                    kind.verdict.name(),
                    kind.cause,
                    kind.place
                )
            })
            .collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(mismatches.count(), kinds.len(), "{text}");
    }

    #[test]
    fn a_report_within_its_budget_has_no_lines() {
        let mut report = crate::sample::report();
        report.runs.truncate(0);
        report.layers.clear();
        let mut decided = decide(&report, Rule::ObservedRates, &[]);
        decided.reasons.clear();
        assert_eq!(lines(&report, &decided), "");
    }
}
