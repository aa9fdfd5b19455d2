//! Errors of walkers, by the code that ran.

use hotspot::walkers::Walker;
use oracle::Layer;
use oracle::record::ErrorCount;
use oracle::report::Run;
use std::collections::BTreeMap;

/// What an error code of the walker of `layer` means; empty where nobody knows.
pub(crate) fn meaning(layer: Layer, code: i32) -> &'static str {
    Walker::of(layer).map_or("", |walker| walker.meaning(code))
}

/// The errors of all runs, the most frequent first.
pub(crate) fn by_place(runs: &[Run]) -> Vec<ErrorCount> {
    let mut sums = BTreeMap::new();
    for error in runs.iter().flat_map(|run| &run.errors) {
        let told = (error.layer, -error.code, &error.state, &error.place);
        *sums.entry(told).or_default() += error.count;
    }
    let mut all: Vec<ErrorCount> = sums
        .into_iter()
        .map(|((layer, code, state, place), count)| ErrorCount {
            layer,
            code: -code,
            state: state.clone(),
            place: place.clone(),
            count,
        })
        .collect();
    all.sort_by_key(|error| std::cmp::Reverse(error.count));
    all
}

/// What is said of those beyond the first `shown`.
pub(crate) fn left(all: &[ErrorCount], shown: usize) -> Option<String> {
    let left = all.get(shown..).filter(|left| !left.is_empty())?;
    let checks: u64 = left.iter().map(|error| error.count).sum();
    Some(format!(
        "And {} other kinds with {checks} errors, in report.json.",
        left.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up() {
        let all = by_place(&crate::sample::report().runs);
        let counts: Vec<_> = all.iter().map(|e| (e.code, e.count)).collect();
        assert_eq!(counts, [(-3, 28), (-5, 24), (-5, 12)]);
        let expected = "And 2 other kinds with 36 errors, in report.json.";
        assert_eq!(left(&all, 1).as_deref(), Some(expected));
        assert_eq!((left(&all, 3), left(&all, 4)), (None, None));
    }
}
