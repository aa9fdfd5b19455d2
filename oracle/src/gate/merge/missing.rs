//! What a plan's reports lack.

use super::belong::{number, number_of};
use crate::report::Report;
use std::collections::BTreeSet;

/// The numbers of the runs that a report lacks of its plan, from 1. Empty for reports of earlier versions
/// and of plans without numbers.
pub fn missing_runs(report: &Report) -> Vec<usize> {
    let here = numbers(report);
    let missing = (1..=report.planned).filter(|number| !here.contains(number));
    let missing: Vec<usize> = missing.collect();
    // Where folders have no numbers, nobody knows.
    let known = report.planned.saturating_sub(missing.len());
    let is_known = known == report.runs.len() + report.skipped.len();
    if is_known { missing } else { vec![] }
}

/// The shards that the parts of a plan lack, as `2/3`; empty if the parts are no shards.
pub fn missing_shards(parts: &[Report]) -> Vec<String> {
    let planned = parts.first().map_or(0, |part| part.planned);
    let here: Vec<BTreeSet<usize>> = parts.iter().map(numbers).collect();
    let class = |index: usize, of: usize| -> BTreeSet<usize> {
        let of_shard = |number: &usize| number % of == index % of;
        (1..=planned).filter(of_shard).collect()
    };
    let are_shards = |of: &usize| {
        let classes: Vec<_> = (1..=*of).map(|index| class(index, *of)).collect();
        here.iter().all(|part| classes.contains(part))
    };
    let Some(of) = (1..=planned).find(are_shards) else {
        return vec![];
    };
    let lacks = |index: &usize| !here.contains(&class(*index, of));
    let missing = (1..=of).filter(lacks);
    missing.map(|index| format!("{index}/{of}")).collect()
}

/// The numbers of the runs in a report, and of those that were skipped.
fn numbers(report: &Report) -> BTreeSet<usize> {
    let skipped = report.skipped.iter().map(|skipped| &skipped.dir);
    let skipped = skipped.filter_map(|dir| number_of(dir));
    report
        .runs
        .iter()
        .filter_map(number)
        .chain(skipped)
        .collect()
}
