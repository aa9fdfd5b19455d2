//! Whether reports are parts of one plan.

use crate::report::{Jdk, Report, Run};
use std::collections::BTreeMap;

/// Why the reports do not belong together, if they do not.
pub(super) fn objection(reports: &[Report]) -> Option<String> {
    let (first, others) = reports.split_first()?;
    let other = others.iter().find_map(|other| {
        let budgets = |report: &Report| {
            let Report {
                budget,
                imprecise_budget,
                statement_budget,
                ..
            } = report.clone();
            (budget, imprecise_budget, statement_budget)
        };
        if first.scenario != other.scenario {
            let (one, two) = (&first.scenario, &other.scenario);
            return Some(format!(
                "the reports are of different scenarios: `{one}` and `{two}`"
            ));
        }
        if budgets(first) != budgets(other) || first.required != other.required {
            return Some(
                "the reports have different budgets: they are of different scenarios".into(),
            );
        }
        (first.planned != other.planned).then(|| {
            let (one, two) = (first.planned, other.planned);
            format!("the reports are parts of different plans: of {one} runs and of {two} runs")
        })
    });
    let runs = reports.iter().flat_map(|report| &report.runs);
    other.or_else(|| jdks(runs))
}

/// The seeds of the plans that these runs are of, in the order of the runs: the seed of a run is that of its plan and its own
/// number. Parts of a plan that were made with different seeds are independent samples, so they belong together.
pub fn seeds(runs: &[Run]) -> Vec<u64> {
    let mut seeds = vec![];
    for run in runs {
        let before = number(run).map_or(0, |number| number as u64 - 1);
        let seed = run.seed.wrapping_sub(before);
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    seeds
}

/// A plan has one JDK at each place of its axis `jdk`; its folder may differ between machines.
fn jdks<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<String> {
    let mut known: BTreeMap<Option<&str>, (&Run, &Jdk)> = BTreeMap::new();
    for run in runs {
        let Some(jdk) = &run.jdk else {
            continue;
        };
        let place = run.axes.get("jdk").map(String::as_str);
        let (other, of_other) = *known.entry(place).or_insert((run, jdk));
        let build = |jdk: &Jdk| (jdk.version.clone(), jdk.vendor.clone(), jdk.vm.clone());
        if build(jdk) != build(of_other) {
            return Some(format!(
                "{} was run on {} {}, and {} on {} {}: a plan has one JDK",
                other.dir, of_other.vendor, of_other.version, run.dir, jdk.vendor, jdk.version
            ));
        }
    }
    None
}

/// The number of a run in its plan, from 1, which its folder has.
pub(super) fn number(run: &Run) -> Option<usize> {
    number_of(&run.dir)
}

/// The number that a folder of a run has, from 1.
pub(super) fn number_of(dir: &str) -> Option<usize> {
    let name = dir.rsplit('/').next()?;
    let digits = name.find(|c: char| !c.is_ascii_digit());
    let number = name[..digits.unwrap_or(name.len())].parse().ok()?;
    (number > 0).then_some(number)
}
