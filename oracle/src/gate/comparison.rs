//! A report against another, or against the runs of a baseline.

use super::against::{Against, Judging, against};
use super::baseline::Baseline;
use super::decision::{Decision, Rule, decide};
use super::known::KnownIssues;
use super::outcome::Outcome;
use super::reason::{Objection, Subject, incomplete, trouble, weigh};
use crate::report::Report;

/// How a report differs from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whether the report is worse.
    pub outcome: Outcome,
    /// What speaks against a better answer, the weightiest reason first.
    pub reasons: Vec<Objection>,
    /// The cells that changed.
    pub against: Against,
}

impl Comparison {
    /// The comparison as a decision on `report`. The arguments are those of [`compare`].
    pub fn decision(
        &self,
        report: &Report,
        base: &Baseline,
        arch: &str,
        judging: Judging,
    ) -> Decision {
        let rule = Rule::Baseline {
            baseline: base,
            known: &KnownIssues::default(),
            platform: arch,
            judging,
            detect: None,
        };
        Decision {
            outcome: self.outcome,
            reasons: self.reasons.clone(),
            ..decide(report, rule, &[])
        }
    }
}

/// What is to say of a comparison with one run.
const ONE_RUN: &str = "one run cannot show how much equal runs differ, so the changes below may be chance: compare with a \
                       baseline of five runs or more, or run both builds in turns with `stackwitness check`";

/// Compares a report with the runs of `base`. `arch` is the architecture of the machine that ran the
/// report. A run that failed and a report that is not whole are reasons too.
pub fn compare(report: &Report, base: &Baseline, arch: &str, judging: Judging) -> Comparison {
    let against = against(report, base, arch, &KnownIssues::default(), judging);
    let mut reasons: Vec<Objection> = report.runs.iter().filter_map(trouble).collect();
    reasons.extend(against.objections());
    reasons.extend(incomplete(report));
    let mut outcome = weigh(report, &mut reasons);
    // Equal runs differ, and one run does not show by how much: what changed may be chance, and what did not
    // change too.
    if base.sets.values().any(|set| set.samples.len() == 1) && outcome != Outcome::Crashed {
        outcome = Outcome::NotMeasured;
        reasons.insert(0, Objection::new(outcome, Subject::Report, ONE_RUN));
    }
    Comparison {
        outcome,
        reasons,
        against,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;
    use crate::record::toy;
    use crate::report::{Exit, LayerCounts, Run};
    use crate::tally::Tally;

    fn report(seed: u64, wrong: u64) -> Report {
        let tally = Tally {
            matches: 10_000 - wrong,
            wrong,
            ..Tally::default()
        };
        let mut report = toy::report(vec![Run {
            seed,
            layers: vec![LayerCounts::new(Layer::AsgctAsync, &tally)],
            ..Run::new("it", Exit::Code(0))
        }]);
        report.jdk.version = "17.0.1".into();
        report.complete = true;
        report
    }

    fn outcome(runs: u64, wrong: u64) -> Outcome {
        let mut base = Baseline::default();
        for seed in 0..runs {
            base.add_report(&report(seed, 0), "x86_64")
                .expect("it is whole");
        }
        compare(&report(99, wrong), &base, "x86_64", Judging { alpha: 0.01 }).outcome
    }

    #[test]
    fn the_decision_says_what_the_comparison_says() {
        let judging = Judging { alpha: 0.01 };
        for (runs, wrong) in [(1, 0), (1, 400), (5, 0), (5, 400)] {
            let mut base = Baseline::default();
            for seed in 0..runs {
                let whole = base.add_report(&report(seed, 0), "x86_64");
                whole.expect("it is whole");
            }
            let new = report(99, wrong);
            let compared = compare(&new, &base, "x86_64", judging);
            let decision = compared.decision(&new, &base, "x86_64", judging);
            assert_eq!(decision.outcome, compared.outcome);
            assert_eq!(decision.reasons, compared.reasons);
            assert_eq!(decision.against, Some(compared.against));
        }
    }

    #[test]
    fn one_run_is_no_measure() {
        assert_eq!([outcome(1, 0), outcome(1, 400)], [Outcome::NotMeasured; 2]);
        assert_eq!(
            [outcome(5, 0), outcome(5, 400)],
            [Outcome::Within, Outcome::Over]
        );
    }
}
