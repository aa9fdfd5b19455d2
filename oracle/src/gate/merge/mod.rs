//! Joining the reports of several machines.

mod belong;
mod missing;

pub use belong::seeds;
pub use missing::{missing_runs, missing_shards};

use crate::report::{Exit, Report, sum_layers};
use std::collections::BTreeSet;

/// Joins reports of shards: tallies add up, rates and bounds are computed anew. The result
/// is the same whatever the order of the reports. Fails where they do not belong together.
pub fn merge(reports: Vec<Report>) -> Result<Report, String> {
    if let Some(objection) = belong::objection(&reports) {
        return Err(objection);
    }
    let mut reports = reports.into_iter();
    let mut whole = reports.next().ok_or("there is no report to merge")?;
    for report in reports {
        whole.complete &= report.complete;
        whole.runs.extend(report.runs);
        whole.skipped.extend(report.skipped);
        whole.mismatches.extend(report.mismatches);
        whole.origins.extend(report.origins);
    }
    // Folders are numbered by the plan, so their order is that of an undivided run.
    whole.runs.sort_by(|a, b| a.dir.cmp(&b.dir));
    let dirs: BTreeSet<_> = whole.runs.iter().map(|run| &run.dir).collect();
    if dirs.len() != whole.runs.len() {
        return Err("a run is in two of the reports".into());
    }
    let run_of = |mismatch: &crate::record::Mismatch| mismatch.evidence.run.clone();
    whole.mismatches.sort_by_key(run_of);
    whole.skipped.sort_by(|a, b| a.scenario.cmp(&b.scenario));
    whole
        .origins
        .sort_by(|a, b| (&a.started, &a.host).cmp(&(&b.started, &b.host)));
    whole.layers = sum_layers(&whole.runs);
    if let Some(jdk) = whole.runs.iter().find_map(|run| run.jdk.clone()) {
        whole.jdk = jdk;
    }
    whole.complete &= whole.planned <= whole.runs.len() + whole.skipped.len();
    whole.complete &= !whole.runs.iter().any(|run| run.exit == Exit::Interrupted);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;
    use crate::record::toy;
    use crate::report::{Jdk, LayerCounts, Run};
    use crate::tally::Tally;
    use proptest::prelude::*;

    fn run(number: usize, matches: u64, wrong: u64) -> Run {
        let tally = Tally {
            matches,
            wrong,
            ..Tally::default()
        };
        Run {
            seed: number as u64,
            wall_s: 1.0,
            layers: vec![LayerCounts::new(Layer::Gst, &tally)],
            dir: format!("runs/{number:03}-it"),
            ..Run::new("it", Exit::Code(0))
        }
    }

    fn report(runs: Vec<Run>, planned: usize) -> Report {
        Report {
            required: vec![Layer::Gst],
            planned,
            ..toy::report(runs)
        }
    }

    proptest! {
        #[test]
        fn parts_in_any_order_make_the_whole(
            counts in prop::collection::vec((0u64..1_000_000, 0u64..100, 0usize..4), 1..20),
            rotate in 0usize..4,
        ) {
            let runs: Vec<Run> = counts.iter().enumerate().map(|(i, c)| run(i + 1, c.0, c.1)).collect();
            let mut parts: Vec<Report> = (0..4)
                .map(|part| {
                    let mine = runs.iter().zip(&counts).filter(|(_, c)| c.2 == part);
                    report(mine.map(|(run, _)| run.clone()).collect(), runs.len())
                })
                .collect();
            parts.rotate_left(rotate);
            let n = runs.len();
            prop_assert_eq!(merge(parts), Ok(report(runs, n)));
        }
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        assert!(merge(vec![]).is_err());
        let part = report(vec![run(1, 5, 0)], 2);
        assert!(merge(vec![part.clone(), part.clone()]).is_err());
        assert!(merge(vec![part.clone(), report(vec![run(2, 5, 0)], 3)]).is_err());
        let other = Report {
            required: vec![],
            ..report(vec![run(2, 5, 0)], 2)
        };
        assert!(merge(vec![part.clone(), other]).is_err());
        let alone = merge(vec![part]).expect("one part is a merge too");
        assert!(!alone.complete, "but not the whole");
        assert_eq!(missing_runs(&alone), [2]);
    }

    #[test]
    fn parts_of_other_plans_are_refused() {
        let part = || report(vec![run(1, 5, 0)], 2);
        let mut scenario = report(vec![run(2, 5, 0)], 2);
        scenario.scenario = "other".into();
        let on = |version: &str, number| {
            let mut part = report(vec![run(number, 5, 0)], 2);
            let jdk = Jdk {
                home: format!("/jdk-{number}"),
                version: version.into(),
                ..Jdk::default()
            };
            part.runs[0].jdk = Some(jdk);
            part
        };
        let refused = |parts| merge(parts).expect_err("it is refused");
        assert!(refused(vec![part(), scenario]).contains("`test` and `other`"));
        let two_builds = refused(vec![on("17.0.1", 1), on("17.0.2", 2)]);
        assert!(two_builds.contains("one JDK"), "{two_builds}");
        assert!(merge(vec![on("17.0.1", 1), on("17.0.1", 2)]).is_ok());
    }

    #[test]
    fn parts_with_other_seeds_are_independent_samples() {
        let part = |number, wrong, seed| {
            let mut part = report(vec![run(number, 5, wrong)], 3);
            part.runs[0].seed = seed + number as u64 - 1;
            part
        };
        let parts = vec![part(3, 1, 40), part(1, 0, 1), part(2, 2, 40)];
        let whole = merge(parts).expect("they are parts of one plan");
        assert_eq!(seeds(&whole.runs), [1, 40]);
        assert_eq!((whole.layers[0].matches, whole.layers[0].wrong), (15, 3));
        assert!(whole.complete);
        // The same run once more is none of a part that is missing, whatever its seed.
        assert!(merge(vec![part(1, 0, 1), part(1, 0, 40)]).is_err());
    }

    #[test]
    fn missing_shards_have_names() {
        let part = |numbers: &[usize]| {
            let runs = numbers.iter().map(|&number| run(number, 5, 0));
            report(runs.collect(), 7)
        };
        let parts = [part(&[1, 4, 7]), part(&[3, 6])];
        assert_eq!(missing_shards(&parts), ["2/3"]);
        assert_eq!(missing_runs(&merge(parts.into()).unwrap()), [2, 5]);
        assert_eq!(missing_shards(&[part(&[1, 2, 4])]), [""; 0]);
    }
}
