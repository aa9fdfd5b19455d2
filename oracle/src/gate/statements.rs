//! What samplers say of their own samples, against the shares that a scenario allows.

use super::layers::Basis;
use super::outcome::Outcome;
use super::reason::{Objection, Subject};
use crate::numbers::{self, exact};
use crate::record::Statement;
use crate::report::Report;
use crate::{Layer, bound};

/// The decision on one statement of a layer's sampler, summed over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementDecision {
    /// The layer.
    pub layer: Layer,
    /// What the sampler says.
    pub statement: Statement,
    /// The samples of which it says so.
    pub count: u64,
    /// The samples of which it could say so.
    pub samples: u64,
    /// The upper 95 % bound of their share; absent without samples.
    pub upper95: Option<f64>,
    /// The highest share allowed, from 0 to 1.
    pub budget: f64,
    /// If the share is within the budget, and its upper bound is not: how many more samples without the statement would
    /// bring the bound within the budget.
    pub missing: Option<u64>,
}

impl StatementDecision {
    fn new(
        (layer, statement, budget): (Layer, Statement, f64),
        (count, samples): (u64, u64),
        basis: Basis,
    ) -> StatementDecision {
        let upper95 = bound::upper95(count, samples);
        let is_sure = upper95.is_none_or(|bound| bound <= budget);
        let missing = (basis == Basis::UpperBounds && !is_sure && budget > 0.0).then(|| {
            let needed = bound::trials_needed(count, budget).unwrap_or(u64::MAX);
            needed.saturating_sub(samples).max(1)
        });
        StatementDecision {
            layer,
            statement,
            count,
            samples,
            upper95,
            budget,
            missing,
        }
    }

    /// Whether the observed share is over the budget.
    pub fn is_over(&self) -> bool {
        self.count as f64 > self.budget * self.samples as f64
    }

    /// What speaks against the layer, if anything does.
    pub(super) fn objection(&self) -> Option<Objection> {
        let StatementDecision {
            layer,
            statement,
            count,
            samples,
            budget,
            missing,
            ..
        } = self;
        let (outcome, text) = if self.is_over() {
            let what = match statement {
                Statement::Unanswered => {
                    "requests have no event, and the sampler does not call them lost".into()
                }
                said => format!("samples are {said}, as the sampler says"),
            };
            let [n, all] = [*count, *samples].map(numbers::count);
            let budget = exact(*budget);
            let text = format!("{layer}: {n} of {all} {what}, over the budget of {budget}");
            (Outcome::Over, text)
        } else {
            let more = (*missing)?;
            let text = format!(
                "{layer}: too few samples for the budget of {} for those that are {statement}; it needs {} more",
                exact(*budget),
                numbers::count(more)
            );
            (Outcome::NotMeasured, text)
        };
        Some(Objection::new(outcome, Subject::Layer(*layer), text))
    }
}

/// Decides on each statement that the report's scenario limits. A layer whose needs could not be read is not judged.
pub(super) fn statements(report: &Report, basis: Basis) -> Vec<StatementDecision> {
    let joined = || report.runs.iter().flat_map(|run| &run.joined);
    let limits = report.statement_budget.limits();
    let limits = limits.filter(|(layer, ..)| report.lost_of(*layer).is_none());
    let decide = |limit: (Layer, Statement, f64)| {
        let (layer, statement, _) = limit;
        let of_layer = joined().filter(|joined| joined.layer == layer);
        let counts = of_layer.fold((0, 0), |(count, samples), joined| {
            (
                count + joined.stated(statement),
                samples + joined.could_state(statement),
            )
        });
        StatementDecision::new(limit, counts, basis)
    };
    limits.map(decide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{KnownIssues, Rule, decide};
    use crate::record::{JoinCounts, StatementBudget, toy};
    use crate::report::{Exit, LayerCounts, Run};
    use crate::tally::Tally;
    use std::collections::BTreeMap;

    /// A sampler with so many events, of which so many are biased, and so many lost samples.
    fn report(events: u64, biased: u64, lost: u64) -> Report {
        let layer = Layer::JfrCpu;
        let tally = Tally {
            matches: 10_000,
            ..Tally::default()
        };
        let joined = JoinCounts {
            events,
            lost,
            biased: BTreeMap::from([("match".to_owned(), biased)]),
            ..JoinCounts::new(layer)
        };
        let mut report = toy::report(vec![Run {
            layers: vec![LayerCounts::new(layer, &tally)],
            joined: vec![joined],
            ..Run::new("it", Exit::Code(0))
        }]);
        report.budget.0.insert(layer, 0.1);
        let limits = BTreeMap::from([(Statement::Biased, 0.5), (Statement::Lost, 0.1)]);
        report.statement_budget = StatementBudget(BTreeMap::from([(layer, limits)]));
        report
    }

    fn outcome(report: &Report, rule: Rule<'_>) -> Outcome {
        decide(report, rule, &[]).outcome
    }

    #[test]
    fn a_sampler_that_says_more_than_it_may_is_over_its_budget() {
        let known = KnownIssues::default();
        let bounds = Rule::UpperBounds {
            known: &known,
            platform: "",
        };
        for (events, biased, lost, observed, bounded) in [
            (10_000, 4_000, 500, Outcome::Within, Outcome::Within),
            // All are biased, or a third is lost.
            (10_000, 10_000, 500, Outcome::Over, Outcome::Over),
            (10_000, 4_000, 5_000, Outcome::Over, Outcome::Over),
            // Ten samples say too little for a bound.
            (10, 4, 0, Outcome::Within, Outcome::NotMeasured),
            // No sample says nothing against the sampler.
            (0, 0, 0, Outcome::Within, Outcome::Within),
        ] {
            let report = report(events, biased, lost);
            let seen = [Rule::ObservedRates, bounds].map(|rule| outcome(&report, rule));
            assert_eq!(seen, [observed, bounded], "{events} {biased} {lost}");
        }
    }

    #[test]
    fn the_objection_says_what_and_how_much() {
        let decided = decide(&report(10_000, 9_000, 0), Rule::ObservedRates, &[]);
        assert_eq!(
            decided.reasons[0].text,
            "jfr-cpu: 9,000 of 10,000 samples are biased, as the sampler says, over the budget of 50 %"
        );
        assert_eq!(decided.statements.len(), 2);
    }

    #[test]
    fn what_is_not_limited_may_be_said() {
        let mut report = report(100, 100, 100);
        report.statement_budget = StatementBudget::default();
        assert_eq!(outcome(&report, Rule::ObservedRates), Outcome::Within);
    }

    #[test]
    fn a_bound_that_is_asked_for_is_enough() {
        let limit = (Layer::JfrCpu, Statement::Biased, 0.5);
        let decide = |n| StatementDecision::new(limit, (4, n), Basis::UpperBounds);
        let more = decide(10).missing.expect("ten are too few");
        assert_eq!(decide(10 + more).missing, None);
        assert!(decide(10 + more - 1).missing.is_some());
    }
}
