//! Tests every cell of a report against a baseline.

use super::change::{Change, Finding};
use super::comparable::obstacles;
use super::pair::{Novel, Pair, Tested};
use super::power::{Power, powers};
use crate::gate::baseline::{Baseline, Platform, Set, samples_without};
use crate::gate::known::{Known, KnownIssues};
use crate::probability::holm;
use crate::report::Report;
use std::cmp::Ordering;

/// How to judge.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Judging {
    /// The probability with which an honest JVM may fail, from 0 to 1.
    pub alpha: f64,
}

/// What a report shows against a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The cells that changed: those that are worse first, by [`What::weight`](crate::gate::baseline::What::weight); then new ones
    /// before those that rose, the least probable first.
    pub changes: Vec<Change>,
    /// Why report and baseline cannot be compared, or only in part.
    pub obstacles: Vec<String>,
    /// What the report could have shown.
    pub powers: Vec<Power>,
    /// How many cells were tested.
    pub tested: usize,
    /// How many runs the baseline has for the report's JDKs.
    pub runs: usize,
    /// How it was judged.
    pub judging: Judging,
}

/// How the probability of a false alarm is shared: rates, new kinds, new places.
const OF_RATES: f64 = 0.6;
const OF_NEW_KINDS: f64 = 0.2;
const OF_NEW_PLACES: f64 = 0.2;

/// Compares a report with a baseline, but for the mismatches of known issues. `arch` is the architecture
/// of the machine that ran the report.
pub fn against(
    report: &Report,
    baseline: &Baseline,
    arch: &str,
    issues: &KnownIssues,
    judging: Judging,
) -> Against {
    let known = Known {
        issues,
        platform: arch,
    };
    let samples = samples_without(report, arch, |run, kind| known.explains(report, run, kind));
    let samples = match samples {
        Ok(samples) => samples,
        Err(why) => {
            let mut nothing = Against::of(&[], judging);
            nothing.obstacles.push(why);
            return nothing;
        }
    };
    let mut pairs = vec![];
    let mut unknown = vec![];
    for (platform, new) in &samples {
        match baseline.sets.get(platform) {
            None => unknown.push(format!("the baseline has no run of {platform}")),
            Some(base) => pairs.push((platform, base, new)),
        }
    }
    let mut against = Against::of(&pairs, judging);
    against.obstacles.extend(unknown);
    against
}

impl Against {
    /// Compares samples, each with the samples of a baseline.
    pub(super) fn of(pairs: &[(&Platform, &Set, &Set)], judging: Judging) -> Against {
        let mut whole = Against {
            changes: vec![],
            obstacles: vec![],
            powers: vec![],
            tested: 0,
            runs: 0,
            judging,
        };
        for (platform, base, new) in pairs {
            whole.obstacles.extend(obstacles(platform, base, new));
            whole.runs += base.samples.len();
            whole.add(
                &Pair::new(platform, base, new),
                judging.alpha / pairs.len() as f64,
            );
        }
        let weight = |change: &Change| {
            let is_better = !change.alarm.is_worse();
            (is_better, change.cell.what.weight(), change.alarm, change.p)
        };
        let order = |a: &Change, b: &Change| weight(a).partial_cmp(&weight(b));
        whole
            .changes
            .sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
        whole
    }

    /// Judges one sample. An honest JVM may fail with probability `alpha`.
    fn add(&mut self, pair: &Pair<'_>, alpha: f64) {
        let rates = pair.rates();
        self.tested += rates.len();
        let of_one_rate = alpha * OF_RATES / rates.len().max(1) as f64;
        self.powers
            .extend(powers(pair, alpha * OF_NEW_KINDS, of_one_rate));
        let mut changes = significant(rates, alpha * OF_RATES);
        changes.extend(pair.novel(Novel::Kinds, alpha * OF_NEW_KINDS));
        changes.extend(pair.novel(Novel::Places, alpha * OF_NEW_PLACES));
        for change in &mut changes {
            change.programs = pair.programs(&change.cell);
        }
        self.changes.extend(changes);
    }

    /// The changes by kind, in their order.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        let mut findings: Vec<Finding<'_>> = vec![];
        for change in &self.changes {
            let like = findings
                .iter_mut()
                .find(|finding| finding.first.is_like(change));
            match like {
                Some(finding) => finding.others.push(change),
                None => findings.push(Finding {
                    first: change,
                    others: vec![],
                }),
            }
        }
        findings
    }
}

/// The changes that are significant; a rise and a fall of one cell are one test each.
fn significant(rates: Vec<Tested>, alpha: f64) -> Vec<Change> {
    let p = |of: fn(&Tested) -> f64| rates.iter().map(of).collect::<Vec<f64>>();
    let rose = holm::significant(&p(|rate| rate.rose.p), alpha);
    let fell = holm::significant(&p(|rate| rate.fell.p), alpha);
    let flagged = rates.into_iter().zip(rose.into_iter().zip(fell));
    flagged
        .filter_map(|(rate, flags)| match flags {
            (true, _) => Some(rate.rose),
            (false, true) => Some(rate.fell),
            (false, false) => None,
        })
        .collect()
}
