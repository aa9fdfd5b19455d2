//! Why stacks are false, by the counts of all mismatches.

use super::plain::is_plain;
use super::rates::judged_plain;
use crate::model::CauseCount;
use crate::numbers::{count, share};
use hotspot::causes::Cause;
use oracle::Verdict;
use oracle::bound::upper95;
use oracle::record::CauseName;
use oracle::report::Report;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Mismatches of layers that look for no causes.
const OF_TRUTHS: &str = "no cause looked for";

/// Mismatches that the report counts in its layers, and not by kind.
pub(super) const NOT_COUNTED: &str = "not counted by cause";

/// The name of a row: that of its cause.
pub(super) fn name(cause: Option<&CauseName>) -> &str {
    cause.map_or(OF_TRUTHS, CauseName::as_str)
}

/// Counts of a cause, in programs with hooks and in unmodified ones.
#[derive(Copy, Clone, Default)]
struct Counts {
    hooked: u64,
    plain: u64,
}

/// A row for each cause, the most frequent first; those of imprecise stacks last.
pub(super) fn causes(report: &Report) -> Vec<CauseCount> {
    let mut sums: BTreeMap<(bool, &str), Counts> = BTreeMap::new();
    for run in &report.runs {
        let plain = is_plain(run);
        let mut add = |is_imprecise: bool, name, n: u64| {
            let counts = sums.entry((is_imprecise, name)).or_default();
            let place = if plain {
                &mut counts.plain
            } else {
                &mut counts.hooked
            };
            *place += n;
        };
        let (mut bad, mut imprecise) = (0, 0);
        for kind in &run.kinds {
            let is_imprecise = kind.verdict == Verdict::Imprecise;
            add(is_imprecise, name(kind.cause.as_ref()), kind.count);
            *(if is_imprecise {
                &mut imprecise
            } else {
                &mut bad
            }) += kind.count;
        }
        // Reports of earlier versions do not count kinds.
        let tallies = run.layers.iter().map(|counts| counts.tally());
        let all: u64 = tallies.clone().map(|tally| tally.mismatches()).sum();
        let all_imprecise: u64 = tallies.map(|tally| tally.imprecise).sum();
        add(false, NOT_COUNTED, all.saturating_sub(bad));
        add(true, NOT_COUNTED, all_imprecise.saturating_sub(imprecise));
    }
    let judged = judged_plain(report);
    let rows = sums.into_iter();
    let rows = rows.filter(|(_, counts)| counts.hooked + counts.plain > 0);
    let mut rows: Vec<CauseCount> = rows
        .map(|((is_imprecise, name), counts)| row(name, is_imprecise, counts, judged))
        .collect();
    rows.sort_by_key(|row| (row.is_imprecise, Reverse(row.total())));
    rows
}

fn row(name: &str, is_imprecise: bool, counts: Counts, judged_plain: u64) -> CauseCount {
    let cause = Cause::named(&CauseName::new(name));
    let only_hooked = counts.plain == 0 && judged_plain > 0 && !is_imprecise;
    let bound = || {
        let bound = upper95(0, judged_plain).unwrap_or(1.0);
        format!(
            "none in {} judged stacks of unmodified programs (below {})",
            count(judged_plain),
            share(bound)
        )
    };
    let meaning = match (cause, name) {
        (Some(cause), _) => cause.meaning,
        (None, OF_TRUTHS) => "a mismatch of the hooks or of GetStackTrace",
        (None, NOT_COUNTED) => "the report has no counts by cause",
        (None, _) => "not known to this version",
    };
    CauseCount {
        name: name.into(),
        meaning: meaning.into(),
        why: cause.map_or(String::new(), |cause| cause.why.into()),
        hooked: counts.hooked,
        plain: counts.plain,
        only_hooked: only_hooked.then(bound),
        is_imprecise,
        is_known: cause.is_some_and(|cause| cause.name != UNEXPLAINED),
        command: cause.and_then(command),
        page: cause
            .filter(|cause| cause.name != UNEXPLAINED)
            .map(Cause::page),
    }
}

/// The cause of what has no known cause.
const UNEXPLAINED: &str = "unexplained";

/// The command that shows the known causes, each with a small program of its own.
fn command(cause: &Cause) -> Option<String> {
    let has_program = cause.programs.is_ok();
    has_program.then(|| "stackwitness run --scenario causes".to_owned())
}
