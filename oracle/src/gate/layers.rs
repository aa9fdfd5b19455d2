//! The standing of each layer against its budget.

use super::outcome::Outcome;
use super::reason::{Objection, Subject};
use super::unexplained::is_over as is_over_limit;
use crate::numbers::{count, exact};
use crate::report::LayerCounts;
use crate::{Layer, bound};

/// The share of honest reports, with as many unexplained stacks as are allowed, that fail all the same.
const ERROR: f64 = 1e-4;

/// The basis of the comparison with a layer's budget.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Basis {
    /// The observed rate of mismatches.
    ObservedRates,
    /// The exact upper 95 % bound of that rate, so that too few checks are no success.
    ///
    /// No number of checks brings a bound down to 0. A budget of 0 therefore means that not one
    /// mismatch may be seen.
    UpperBounds,
    /// The runs of a baseline, cell by cell. Only budgets of 0 apply in addition.
    Baseline,
}

/// The standing of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The layer is within its budget.
    Passes,
    /// The observed rate of mismatches is over the budget.
    Over,
    /// The observed rate of imprecise stacks is over its budget.
    TooImprecise,
    /// So many false stacks that no known defect of a walker explains are certainly over their budget.
    Unexplained(u64),
    /// The rate is within the budget, and its upper bound is not. This many more checks without a
    /// mismatch would bring the bound within the budget.
    TooFew(u64),
    /// This many cells of the layer are new, or more frequent than in the baseline.
    Worse(usize),
    /// The layer has too few checks to see the share that the user asked for. Holds how many more
    /// checks are needed, and the minutes that they take.
    TooWeak(u64, u64),
    /// The layer is in the report, but has no decided checks.
    NoData,
    /// The layer was asked for and is not in the report.
    Missing,
    /// What the layer needs of the VM could not be read. Whatever it counted says nothing of the JVM.
    Blind,
}

/// The highest rates that a layer may show, from 0 to 1.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits {
    /// The highest rate of mismatches.
    pub(super) budget: f64,
    /// The highest rate of imprecise stacks.
    pub(super) imprecise: f64,
    /// The highest rate of mismatches without a proven cause, if causes can be proven.
    pub(super) unexplained: Option<f64>,
}

/// How many mismatches of a layer are so.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct ByCause {
    /// Those that the user knows.
    pub(super) known: u64,
    /// Those of the others that have no proven cause.
    pub(super) unexplained: u64,
}

/// The result of the comparison with a baseline for a layer.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Compared {
    /// How many cells are new, or more frequent than in the baseline.
    pub(super) worse: usize,
    /// If there are too few checks: how many more are needed, and the minutes that they take.
    pub(super) missing: Option<(u64, u64)>,
}

/// The decision on one layer, summed over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDecision {
    /// The layer.
    pub layer: Layer,
    /// Checks that were decided.
    pub decided: u64,
    /// Mismatches that are not known.
    pub mismatches: u64,
    /// Mismatches that are known.
    pub known: u64,
    /// The upper 95 % bound of the rate of unknown mismatches; absent without decided checks.
    pub upper95: Option<f64>,
    /// The highest rate allowed, from 0 to 1.
    pub budget: f64,
    /// Imprecise stacks.
    pub imprecise: u64,
    /// The highest rate of imprecise stacks allowed, from 0 to 1.
    pub imprecise_budget: f64,
    /// Whether the scenario asks for data in this layer.
    pub required: bool,
    /// The standing of the layer.
    pub standing: Standing,
}

impl LayerDecision {
    pub(super) fn new(
        layer: Layer,
        counts: Option<&LayerCounts>,
        ByCause { known, unexplained }: ByCause,
        limits: Limits,
        required: bool,
        basis: Basis,
        compared: Compared,
    ) -> LayerDecision {
        let Limits {
            budget, imprecise, ..
        } = limits;
        let tally = counts.map(LayerCounts::tally).unwrap_or_default();
        let decided = tally.decided();
        let mismatches = tally.mismatches().saturating_sub(known);
        let upper95 = bound::upper95(mismatches, decided);
        // Rates within a budget above 0 are judged by the baseline.
        let holds = |budget: f64| basis != Basis::Baseline || budget == 0.0;
        let is_over =
            |count: u64, budget: f64| holds(budget) && count as f64 > budget * decided as f64;
        // How many more checks are needed, if there are too few.
        let missing = |count: u64, budget: f64| {
            let enough = bound::upper95(count, decided).is_some_and(|bound| bound <= budget);
            (basis == Basis::UpperBounds && !enough && budget > 0.0).then(|| {
                let needed = bound::trials_needed(count, budget).unwrap_or(u64::MAX);
                needed.saturating_sub(decided).max(1)
            })
        };
        let is_unexplained = limits
            .unexplained
            .is_some_and(|limit| holds(limit) && is_over_limit(unexplained, decided, limit, ERROR));
        let more = || missing(mismatches, budget).max(missing(tally.imprecise, imprecise));
        let standing = match decided {
            0 if counts.is_none() => Standing::Missing,
            0 => Standing::NoData,
            _ if is_over(mismatches, budget) => Standing::Over,
            _ if compared.worse > 0 => Standing::Worse(compared.worse),
            _ if is_unexplained => Standing::Unexplained(unexplained),
            _ if is_over(tally.imprecise, imprecise) => Standing::TooImprecise,
            _ => match (compared.missing, more()) {
                (Some((more, minutes)), _) => Standing::TooWeak(more, minutes),
                (None, Some(more)) => Standing::TooFew(more),
                (None, None) => Standing::Passes,
            },
        };
        LayerDecision {
            layer,
            decided,
            mismatches,
            known,
            upper95,
            budget,
            imprecise: tally.imprecise,
            imprecise_budget: imprecise,
            required,
            standing,
        }
    }

    /// The outcome of the report if this were its only layer.
    pub fn outcome(&self) -> Outcome {
        match self.standing {
            Standing::Over
            | Standing::TooImprecise
            | Standing::Unexplained(_)
            | Standing::Worse(_) => Outcome::Over,
            Standing::TooFew(_) | Standing::TooWeak(..) | Standing::Missing | Standing::Blind => {
                Outcome::NotMeasured
            }
            Standing::NoData if self.required => Outcome::NotMeasured,
            Standing::NoData | Standing::Passes => Outcome::Within,
        }
    }

    /// The objection to the layer, if any. If it has no data, the objection says `why`, if that is known.
    pub(super) fn objection(&self, why: Option<&str>) -> Option<Objection> {
        let LayerDecision {
            layer,
            mismatches,
            decided,
            budget,
            imprecise,
            imprecise_budget,
            ..
        } = self;
        let text = match self.standing {
            // Each cell that is worse is a reason of its own.
            Standing::Passes | Standing::Worse(_) => return None,
            Standing::NoData if !self.required => return None,
            Standing::NoData => match why {
                Some(why) => format!("{layer}: no data: {why}"),
                None => format!("{layer}: no data"),
            },
            Standing::Missing => format!("{layer}: the layer is missing in the report"),
            Standing::Blind => {
                format!("{layer}: not judged, because what it needs of this VM cannot be read")
            }
            Standing::Over => format!(
                "{layer}: {} mismatches in {} checks are over its budget of {}",
                count(*mismatches),
                count(*decided),
                exact(*budget)
            ),
            Standing::TooImprecise => format!(
                "{layer}: {} imprecise stacks in {} checks are over their budget of {}",
                count(*imprecise),
                count(*decided),
                exact(*imprecise_budget)
            ),
            Standing::Unexplained(stacks) => format!(
                "{layer}: no known defect of a walker explains {} false stacks in {} checks; honest JVMs show less than {}",
                count(stacks),
                count(*decided),
                exact(layer.row().unexplained.unwrap_or_default())
            ),
            Standing::TooWeak(more, minutes) => format!(
                "{layer}: too few checks to see so small a share of false stacks; it needs {} more, about {} more minutes",
                count(more),
                count(minutes)
            ),
            Standing::TooFew(more) => format!(
                "{layer}: too few checks for its budget of {}; it needs {} more without a mismatch",
                exact(*budget),
                count(more)
            ),
        };
        Some(Objection::new(self.outcome(), Subject::Layer(*layer), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally;
    use proptest::prelude::*;

    fn decided(counts: &LayerCounts, causes: ByCause, limits: Limits, basis: Basis) -> Standing {
        let (layer, compared) = (counts.layer, Compared::default());
        LayerDecision::new(layer, Some(counts), causes, limits, true, basis, compared).standing
    }

    fn bounded(n: u64, k: u64, budget: f64) -> LayerDecision {
        let tally = Tally {
            matches: n - k,
            wrong: k,
            ..Tally::default()
        };
        let counts = LayerCounts::new(Layer::AsgctAsync, &tally);
        let basis = Basis::UpperBounds;
        let limits = Limits {
            budget,
            imprecise: 1.0,
            unexplained: None,
        };
        LayerDecision::new(
            Layer::AsgctAsync,
            Some(&counts),
            ByCause::default(),
            limits,
            true,
            basis,
            Compared::default(),
        )
    }

    #[test]
    fn imprecise_stacks_have_a_budget_of_their_own() {
        let tally = Tally {
            matches: 999_990,
            imprecise: 10,
            ..Tally::default()
        };
        let counts = LayerCounts::new(Layer::AsgctAsync, &tally);
        let decide = |imprecise, basis| {
            let limits = Limits {
                budget: 0.0,
                imprecise,
                unexplained: None,
            };
            decided(&counts, ByCause::default(), limits, basis)
        };
        for (basis, imprecise, expected) in [
            (Basis::ObservedRates, 0.0, Standing::TooImprecise),
            (Basis::ObservedRates, 0.000_011, Standing::Passes),
            (Basis::UpperBounds, 0.000_1, Standing::Passes),
        ] {
            assert_eq!(decide(imprecise, basis), expected);
        }
        let few = decide(0.000_011, Basis::UpperBounds);
        assert!(matches!(few, Standing::TooFew(_)));
    }

    #[test]
    fn more_unexplained_stacks_than_chance_allows_fail() {
        let standing = |unexplained, wrong, limit, basis| {
            let tally = Tally {
                matches: 50_000 - wrong,
                wrong,
                ..Tally::default()
            };
            let limits = Limits {
                budget: 0.01,
                imprecise: 1.0,
                unexplained: limit,
            };
            let causes = ByCause {
                known: 0,
                unexplained,
            };
            let counts = LayerCounts::new(Layer::AsgctSafepoint, &tally);
            decided(&counts, causes, limits, basis)
        };
        // With 10 in 50,000, the limit, 25 or more are seen in 0.5 of 10,000 reports, 24 or more in 1.2.
        let limit = Some(0.0002);
        let observed = Basis::ObservedRates;
        assert_eq!(standing(25, 25, limit, observed), Standing::Unexplained(25));
        assert_eq!(standing(24, 25, limit, observed), Standing::Passes);
        assert_eq!(standing(0, 400, limit, observed), Standing::Passes);
        assert_eq!(standing(400, 400, None, observed), Standing::Passes);
        let upper = Basis::UpperBounds;
        assert_eq!(standing(25, 25, limit, upper), Standing::Unexplained(25));
        // The cells of a baseline say the same.
        assert_eq!(standing(400, 400, limit, Basis::Baseline), Standing::Passes);
        assert_eq!(standing(600, 600, limit, observed), Standing::Over);
    }

    /// 20 * P(X <= k) <= 1 for n trials of probability a/b, in whole numbers.
    fn exactly_passes(k: u64, n: u64, a: u128, b: u128) -> bool {
        let choose = |i: u64| (0..i).fold(1u128, |c, j| c * u128::from(n - j) / u128::from(j + 1));
        let sum: u128 = (0..=k)
            .map(|i| choose(i) * a.pow(i as u32) * (b - a).pow((n - i) as u32))
            .sum();
        20 * sum <= b.pow(n as u32)
    }

    proptest! {
        #[test]
        fn the_gate_is_exact(n in 1u64..34, k in 0u64..34, a in 1u128..10) {
            prop_assume!(k <= n);
            let budget = a as f64 / 10.0;
            let decision = bounded(n, k, budget);
            let passes = k < n && exactly_passes(k, n, a, 10);
            prop_assert_eq!(decision.standing == Standing::Passes, passes, "{:?}", decision);
        }

        #[test]
        fn what_it_asks_for_is_enough(n in 1u64..3000, k in 0u64..5, budget in 0.001f64..0.5) {
            prop_assume!(k < n);
            let decide = |n| bounded(n, k, budget).standing;
            if let Standing::TooFew(more) = decide(n) {
                prop_assert_eq!(decide(n + more), Standing::Passes);
                prop_assert!(more == 1 || decide(n + more - 1) != Standing::Passes);
            }
        }

        #[test]
        fn a_budget_of_none_allows_none(n in 1u64..1_000_000, k in 0u64..3) {
            prop_assume!(k <= n);
            let decision = bounded(n, k, 0.0);
            let expected = if k == 0 { Standing::Passes } else { Standing::Over };
            prop_assert_eq!(decision.standing, expected);
        }
    }
}
