//! The gate: yes or no, by upper bounds instead of observed rates, with what is known
//! already taken out.
//!
//! A budget above 0 is kept if the exact upper 95 % bound of the rate is at or below it. No
//! number of checks brings a bound down to 0, so a budget of 0 means: not one was seen.

use crate::bound;
use crate::outcome::{Finding, Outcome};
use crate::record::Mismatch;
use crate::report::{LayerCounts, Report};
use crate::{Layer, report};
use serde::Deserialize;

/// Mismatches that are known already.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssues {
    /// One after the other.
    #[serde(default, rename = "issue")]
    pub issues: Vec<KnownIssue>,
}

/// A kind of mismatch that is known already.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    /// Its name, as `JDK-8301234`.
    pub id: String,
    /// The JDKs that show it: `17`, `17-21`, `21-`; absent: all.
    pub jdk: Option<String>,
    /// The processor architecture, as `x86_64`; absent: all.
    pub platform: Option<String>,
    /// The layer that shows it.
    pub layer: Layer,
    /// A part of its mismatches' signatures.
    pub signature: String,
    /// The highest rate at which it may appear.
    pub max_rate: f64,
    /// Where to read about it.
    pub link: String,
}

impl KnownIssue {
    /// Whether a JDK with this version on this platform is expected to show it.
    fn applies(&self, version: &str, platform: &str) -> bool {
        let platform_fits = self.platform.as_deref().is_none_or(|p| p == platform);
        platform_fits
            && self
                .jdk
                .as_deref()
                .is_none_or(|range| within(range, feature(version)))
    }

    /// What is wrong with it, if anything is.
    pub fn complaint(&self) -> Option<String> {
        let id = &self.id;
        if !(0.0..=1.0).contains(&self.max_rate) {
            return Some(format!(
                "{id}: max_rate is from 0 to 1, not {}",
                self.max_rate
            ));
        }
        if self.signature.is_empty() {
            return Some(format!("{id}: an empty signature would hide everything"));
        }
        let range = self.jdk.as_deref()?;
        let parts = range
            .split('-')
            .all(|part| part.is_empty() || part.parse::<u32>().is_ok());
        (!parts || range.matches('-').count() > 1 || range == "-" || range.is_empty())
            .then(|| format!("{id}: jdk is a range as `17`, `17-21` or `21-`, not `{range}`"))
    }
}

fn feature(version: &str) -> Option<u32> {
    let end = version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(version.len());
    version[..end].parse().ok()
}

fn within(range: &str, feature: Option<u32>) -> bool {
    let Some(feature) = feature else {
        return false;
    };
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    low.parse().is_ok_and(|low: u32| feature >= low)
        && high
            .parse()
            .map_or(high.is_empty(), |high: u32| feature <= high)
}

/// How a layer stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The bound is within the budget.
    Passes,
    /// The observed rate is over the budget.
    Over,
    /// The rate is within the budget, its bound is not: so many more checks without a
    /// mismatch would bring it there.
    TooFew(u64),
    /// The layer was asked for and nothing was decided in it.
    NoData,
    /// The layer was asked for and is not in the report.
    Missing,
}

/// The decision on one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDecision {
    /// The layer.
    pub layer: Layer,
    /// Checks that were decided.
    pub decided: u64,
    /// Mismatches that are not known.
    pub mismatches: u64,
    /// Mismatches that are.
    pub known: u64,
    /// The bound of the rate of those that are not.
    pub upper95: Option<f64>,
    /// The highest rate allowed.
    pub budget: f64,
    /// What follows.
    pub standing: Standing,
}

/// A known issue and what was seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownSeen {
    /// Its name.
    pub id: String,
    /// Where to read about it.
    pub link: String,
    /// How many of its mismatches were written down.
    pub mismatches: u64,
    /// Whether that is more than it may have.
    pub too_many: bool,
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Yes is [`Outcome::Within`].
    pub outcome: Outcome,
    /// What speaks against a better one.
    pub reasons: Vec<String>,
    /// Layer by layer.
    pub layers: Vec<LayerDecision>,
    /// Known issues that were seen.
    pub known: Vec<KnownSeen>,
    /// Known issues that were expected and not seen, by name: unexpected passes.
    pub passes: Vec<String>,
}

/// Judges a report.
///
/// Of the known mismatches only those count as known that were written down: above a run's
/// limit of evidence the rest counts as unknown, for nobody has seen what it is.
pub fn decide(report: &Report, known: &KnownIssues, platform: &str) -> Decision {
    let mut reasons: Vec<(Outcome, String)> = vec![];
    let owners: Vec<Option<usize>> = report
        .mismatches
        .iter()
        .map(|mismatch| owner(report, mismatch, known, platform))
        .collect();
    let mut layers = vec![];
    for layer in Layer::ALL {
        let counts = report.layers.iter().find(|counts| counts.layer == layer);
        let required = report.required.contains(&layer);
        if counts.is_none() && !required {
            continue;
        }
        let owned = report.mismatches.iter().zip(&owners);
        let known = owned
            .filter(|(mismatch, owner)| mismatch.layer == layer && owner.is_some())
            .count() as u64;
        let decision = decide_layer(layer, counts, known, report.budget.limit(layer));
        if let Some(reason) = objection(&decision, required) {
            reasons.push(reason);
        }
        layers.push(decision);
    }
    if !layers.iter().any(|layer| layer.decided > 0) {
        reasons.push((Outcome::NotMeasured, "no layer has any data".into()));
    }

    let (mut seen, mut passes) = (vec![], vec![]);
    for (index, issue) in known.issues.iter().enumerate() {
        let mismatches = owners.iter().filter(|owner| **owner == Some(index)).count() as u64;
        let decided = layers
            .iter()
            .find(|l| l.layer == issue.layer)
            .map_or(0, |l| l.decided);
        let expected = versions(report).any(|version| issue.applies(version, platform));
        if mismatches > 0 {
            let too_many = mismatches as f64 > issue.max_rate * decided as f64;
            if too_many {
                let reason = format!(
                    "{}: known, but more often than {} of all checks",
                    issue.id, issue.max_rate
                );
                reasons.push((Outcome::Over, reason));
            }
            seen.push(KnownSeen {
                id: issue.id.clone(),
                link: issue.link.clone(),
                mismatches,
                too_many,
            });
        } else if expected && decided > 0 {
            passes.push(issue.id.clone());
        }
    }

    let Finding { outcome, reasons } = report.with_trouble(reasons);
    Decision {
        outcome,
        reasons,
        layers,
        known: seen,
        passes,
    }
}

fn versions(report: &Report) -> impl Iterator<Item = &str> {
    let of_runs = report.runs.iter().filter_map(|run| run.jdk.as_ref());
    of_runs
        .chain([&report.jdk])
        .map(|jdk: &report::Jdk| jdk.version.as_str())
}

/// The known issue, by index, that explains a mismatch.
fn owner(
    report: &Report,
    mismatch: &Mismatch,
    known: &KnownIssues,
    platform: &str,
) -> Option<usize> {
    let dir = mismatch.evidence.run.as_ref();
    let run = report.runs.iter().find(|run| Some(&run.dir) == dir);
    let jdk = run.and_then(|run| run.jdk.as_ref()).unwrap_or(&report.jdk);
    let signature = mismatch.signature();
    known.issues.iter().position(|issue| {
        issue.layer == mismatch.layer
            && signature.contains(&issue.signature)
            && issue.applies(&jdk.version, platform)
    })
}

fn decide_layer(
    layer: Layer,
    counts: Option<&LayerCounts>,
    known: u64,
    budget: f64,
) -> LayerDecision {
    let tally = counts.map(LayerCounts::tally).unwrap_or_default();
    let decided = tally.decided();
    let mismatches = tally.mismatches().saturating_sub(known);
    let upper95 = bound::upper95(mismatches, decided);
    let standing = match upper95 {
        None if counts.is_none() => Standing::Missing,
        None => Standing::NoData,
        Some(_) if mismatches as f64 > budget * decided as f64 => Standing::Over,
        Some(bound) if bound <= budget || budget == 0.0 => Standing::Passes,
        Some(_) => {
            let needed = bound::trials_needed(mismatches, budget).unwrap_or(u64::MAX);
            Standing::TooFew(needed.saturating_sub(decided).max(1))
        }
    };
    LayerDecision {
        layer,
        decided,
        mismatches,
        known,
        upper95,
        budget,
        standing,
    }
}

fn objection(decision: &LayerDecision, required: bool) -> Option<(Outcome, String)> {
    let LayerDecision {
        layer,
        mismatches,
        decided,
        budget,
        ..
    } = decision;
    match decision.standing {
        Standing::Passes => None,
        Standing::Over => Some((
            Outcome::Over,
            format!(
                "{layer}: {mismatches} mismatches in {decided} checks are over its budget of {budget}"
            ),
        )),
        Standing::TooFew(more) => Some((
            Outcome::NotMeasured,
            format!(
                "{layer}: too few checks for its budget of {budget}; it needs {more} more without a mismatch"
            ),
        )),
        Standing::NoData if required => Some((Outcome::NotMeasured, format!("{layer}: no data"))),
        Standing::Missing => Some((
            Outcome::NotMeasured,
            format!("{layer}: the layer is missing in the report"),
        )),
        Standing::NoData => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally;
    use proptest::prelude::*;

    fn counts(matches: u64, wrong: u64) -> LayerCounts {
        let tally = Tally {
            matches,
            wrong,
            ..Tally::default()
        };
        LayerCounts::new(Layer::AsgctAsync, &tally)
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
            let decision = decide_layer(Layer::AsgctAsync, Some(&counts(n - k, k)), 0, budget);
            let passes = k < n && exactly_passes(k, n, a, 10);
            prop_assert_eq!(decision.standing == Standing::Passes, passes, "{:?}", decision);
        }

        #[test]
        fn what_it_asks_for_is_enough(n in 1u64..3000, k in 0u64..5, budget in 0.001f64..0.5) {
            prop_assume!(k < n);
            let decide = |n| decide_layer(Layer::AsgctAsync, Some(&counts(n - k, k)), 0, budget).standing;
            if let Standing::TooFew(more) = decide(n) {
                prop_assert_eq!(decide(n + more), Standing::Passes);
                prop_assert!(more == 1 || decide(n + more - 1) != Standing::Passes);
            }
        }

        #[test]
        fn a_budget_of_none_allows_none(n in 1u64..1_000_000, k in 0u64..3) {
            prop_assume!(k <= n);
            let decision = decide_layer(Layer::Gst, Some(&counts(n - k, k)), 0, 0.0);
            let expected = if k == 0 { Standing::Passes } else { Standing::Over };
            prop_assert_eq!(decision.standing, expected);
        }
    }

    #[test]
    fn ranges() {
        for (range, feature, expected) in [
            ("17", 17, true),
            ("17", 18, false),
            ("17-21", 21, true),
            ("17-21", 22, false),
            ("21-", 25, true),
            ("21-", 17, false),
        ] {
            assert_eq!(within(range, Some(feature)), expected, "{range} {feature}");
        }
        assert!(!within("17-", None));
        assert_eq!(feature("17.0.15+6-Debian"), Some(17));
        assert_eq!(feature("26-internal"), Some(26));
    }
}
