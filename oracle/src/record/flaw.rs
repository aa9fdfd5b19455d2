//! Reports that nobody wrote: a file that was damaged or edited may still be JSON.

use super::report::{LayerCounts, Report, sum_layers};
use super::tally::Tally;
use crate::Layer;
use std::collections::BTreeMap;

/// No count is larger, so that no sum of the counts of a few hundred reports needs more than 64 bits.
const LARGEST: u64 = 1 << 53;

/// Why the counts of a report contradict each other; `None` if they do not.
pub fn flaw(report: &Report) -> Option<String> {
    let runs = report.runs.iter();
    let kinds = runs
        .clone()
        .flat_map(|run| run.kinds.iter().map(|kind| kind.count));
    let errors = runs
        .clone()
        .flat_map(|run| run.errors.iter().map(|error| error.count));
    let layers = runs.flat_map(|run| &run.layers);
    let counts = layers.clone().flat_map(|counts| {
        let compared = counts.compared;
        [
            compared.frames,
            compared.by_method,
            compared.by_bci,
            counts.checks,
            counts.dropped,
            counts.flagged,
        ]
    });
    if sum(kinds.chain(errors).chain(counts)).is_none_or(|sum| sum > LARGEST) {
        return Some("its counts are too large".into());
    }
    if let Some(counts) = layers.chain(&report.layers).find(|counts| !add_up(counts)) {
        return Some(format!(
            "the counts of layer {} do not add up",
            counts.layer
        ));
    }
    let told = |layers: &[LayerCounts]| -> BTreeMap<Layer, Tally> {
        let told = layers.iter().map(|counts| (counts.layer, counts.tally()));
        told.collect()
    };
    (told(&report.layers) != told(&sum_layers(&report.runs)))
        .then(|| "its layers are not the sums of its runs".into())
}

/// Whether the verdicts are as many as the checks, and the causes of drops as many as the drops. A JVM that
/// crashed may have counted a drop, and not yet its verdict.
fn add_up(counts: &LayerCounts) -> bool {
    let verdicts = [
        counts.matches,
        counts.window,
        counts.imprecise,
        counts.unverifiable,
        counts.truncated,
        counts.wrong,
    ];
    let errors = counts.error.values().copied();
    sum(verdicts.into_iter().chain(errors)) == Some(counts.checks)
        && sum(counts.dropped_by_cause.values().copied()) == Some(counts.dropped)
}

/// The sum, unless it needs more than 64 bits.
fn sum(mut counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.try_fold(0, u64::checked_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::report::{Exit, Run};
    use crate::record::toy;

    /// A report of one run with ten matches in one layer.
    fn report() -> Report {
        let tally = Tally {
            matches: 10,
            ..Tally::default()
        };
        let runs = vec![Run {
            layers: vec![LayerCounts::new(Layer::Gst, &tally)],
            ..Run::new("p", Exit::Code(0))
        }];
        toy::report(runs)
    }

    #[test]
    fn counts_that_contradict_each_other_are_a_flaw() {
        assert_eq!(flaw(&report()), None);
        let changed = |change: fn(&mut Report)| {
            let mut report = report();
            change(&mut report);
            flaw(&report).expect("a flaw")
        };
        let told = changed(|report| report.runs[0].layers[0].checks = 11);
        assert_eq!(told, "the counts of layer gst do not add up");
        let told = changed(|report| report.layers[0].matches = u64::MAX);
        assert_eq!(told, "the counts of layer gst do not add up");
        let told = changed(|report| report.runs[0].layers[0].checks = u64::MAX);
        assert_eq!(told, "its counts are too large");
        let told = changed(|report| report.layers.clear());
        assert_eq!(told, "its layers are not the sums of its runs");
    }
}
