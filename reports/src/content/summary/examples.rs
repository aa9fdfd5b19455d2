//! One example of each kind of mismatch.

use super::causes::NOT_COUNTED;
use crate::content::changes::cells;
use crate::content::frames::stacks;
use crate::content::names;
use crate::model::{Aligned, CauseCount, Example};

use oracle::Verdict;
use oracle::gate::Decision;
use oracle::record::Mismatch;
use oracle::report::Report;

/// Largest number of examples.
const MOST: usize = 16;

/// Evidence that only says where in memory things lay, and in which folder.
const ADDRESSES: [&str; 7] = [
    "pc",
    "sp",
    "fp",
    "last_java_pc",
    "last_java_sp",
    "return_address",
    "run",
];

/// Length of evidence that is shown, in characters.
const LONGEST: usize = 400;

/// An example of each cause that has one, in the order of the causes. Mismatches of known issues come last.
pub(super) fn examples(report: &Report, decided: &Decision, causes: &[CauseCount]) -> Vec<Example> {
    let shown = causes.iter().filter_map(|cause| {
        let all = report.mismatches.iter().zip(&decided.is_known);
        let of_cause = all.filter(|(mismatch, _)| is_of(mismatch, cause, causes));
        // Short stacks are read; a stack of one frame shows little.
        let size = |mismatch: &Mismatch| mismatch.walker.len().max(mismatch.truth.len()).max(4);
        let (mismatch, _) = of_cause.min_by_key(|(mismatch, known)| {
            // Class files alone say no frame of the true stack.
            (**known, mismatch.truth.is_empty(), size(mismatch))
        })?;
        Some(example(report, cause, mismatch))
    });
    shown.take(MOST).collect()
}

fn is_of(mismatch: &Mismatch, cause: &CauseCount, causes: &[CauseCount]) -> bool {
    let is_imprecise = mismatch.verdict == Verdict::Imprecise;
    let name = super::causes::name(mismatch.cause.as_ref());
    let is_named = |row: &CauseCount| row.is_imprecise == is_imprecise && row.name == name;
    // A JVM that was killed has kept evidence, and has not counted its kinds.
    is_named(cause)
        || cause.name == NOT_COUNTED
            && cause.is_imprecise == is_imprecise
            && !causes.iter().any(is_named)
}

fn example(report: &Report, cause: &CauseCount, mismatch: &Mismatch) -> Example {
    let stacks = stacks(mismatch);
    let evidence = stacks.evidence.iter();
    let evidence = evidence.filter(|(name, _)| !ADDRESSES.contains(&name.as_str()));
    let evidence = evidence.map(|(name, value)| (name.clone(), shortened(value)));
    Example {
        name: cause.name.clone(),
        title: mismatch.reason.clone(),
        why: cause.why.clone(),
        layer: mismatch.layer,
        walker: report.run_of(mismatch).map_or_else(
            || names::of_layer(mismatch.layer).to_owned(),
            |run| names::of_run(run, mismatch.layer),
        ),
        stacks: Aligned::of(&stacks),
        thread: mismatch.thread.clone(),
        evidence: evidence.collect(),
        command: report
            .run_of(mismatch)
            .map(|run| cells::command(report, run)),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
    }
}
