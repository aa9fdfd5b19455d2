//! What a person wants to know of a report, in the order of the questions.

mod about;
mod causes;
mod examples;
mod flame;
mod plain;
mod profiles;
mod rates;
mod sentence;
mod trust;

use super::{decision, warnings};
use crate::model::{Cost, Summary};
pub(super) use about::name as name_of_jdk;
use oracle::gate::Decision;
use oracle::report::Report;
use plain::is_plain;
pub(crate) use rates::is_foundation;
pub(super) use rates::title as title_of_layer;

/// The summary of a report with the decision on it.
pub fn summary(report: &Report, decided: &Decision) -> Summary {
    let rates = rates::rates(report, decided);
    let causes = causes::causes(report);
    let profiles = profiles::profiles(report);
    let of_profiles = sentence::of_profiles(report, &profiles);
    Summary {
        warnings: warnings::warnings(report),
        about: about::about(report),
        answer: decision::answer(decided),
        is_about_profiles: !profiles.is_empty() && sentence::asks_for_profiles(report),
        of_stacks: sentence::of_stacks(report, &rates, of_profiles.is_some()),
        of_profiles,
        caveat: sentence::caveat(decided),
        examples: examples::examples(report, decided, &causes),
        flame: flame::flame(report),
        costs: costs(report),
        trust: trust::points(report, &rates, &causes),
        evidence: (
            report.mismatches.len() as u64,
            causes.iter().map(|cause| cause.total()).sum(),
        ),
        rates,
        causes,
        profiles,
    }
}

fn costs(report: &Report) -> Vec<Cost> {
    let runs = report.runs.iter();
    let measured = runs.filter_map(|run| {
        Some(Cost {
            program: run.title(),
            is_hooked: !is_plain(run),
            cpu: run.cost.as_ref()?.slowdown_cpu?,
        })
    });
    measured.collect()
}
