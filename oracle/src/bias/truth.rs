//! The true profile of a run.

use super::pairs::Pairs;
use super::sampler::Sampler;
use std::collections::BTreeMap;

/// How often each method ran at the instants of a run, whichever walker was asked there. All walkers of a run are compared
/// with this one truth: what a walker leaves out is its own loss.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrueProfile {
    counts: BTreeMap<String, u64>,
    instants: u64,
}

impl TrueProfile {
    /// The profile of all instants at which one of the walkers was asked.
    pub fn of<'p>(walkers: impl IntoIterator<Item = &'p Pairs>) -> TrueProfile {
        let mut all = TrueProfile::default();
        for pairs in walkers {
            for (name, instants) in pairs.truth() {
                *all.counts.entry(name.to_owned()).or_default() += instants;
                all.instants += instants;
            }
        }
        all
    }

    /// The truth of a run whose walkers have these pairs. The instants of the agent's own sampler are those of the whole
    /// program: a profiler that samples by a timer of its own is compared with them, too. Without them its own instants are
    /// the truth.
    pub fn of_run(walkers: &BTreeMap<Sampler, Pairs>) -> TrueProfile {
        let of_agent = walkers
            .iter()
            .filter(|(sampler, _)| !sampler.has_own_timer());
        let of_agent = TrueProfile::of(of_agent.map(|(_, pairs)| pairs));
        if of_agent.instants > 0 {
            of_agent
        } else {
            TrueProfile::of(walkers.values())
        }
    }

    /// The share of the instants at which the method ran, from 0 to 1.
    pub fn share(&self, method: &str) -> f64 {
        let ran = self.counts.get(method).copied().unwrap_or(0);
        ran as f64 / self.instants.max(1) as f64
    }

    /// The methods that ran.
    pub(super) fn methods(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Claim, Summary};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Walkers that take turns lose instants of their own: all rows show one true share, which is that of the
        /// program.
        #[test]
        fn a_method_has_one_true_share_in_all_rows(
            instants in prop::collection::vec((0u8..5, 0usize..3, 0u8..4), 1..300),
        ) {
            let mut walkers: [Pairs; 3] = Default::default();
            let mut ran = [0u64; 5];
            for &(method, walker, answer) in &instants {
                ran[usize::from(method)] += 1;
                let claim = match answer {
                    0 => Claim::Silent,
                    1 => Claim::Unjudged,
                    2 => Claim::Named("another"),
                    _ => Claim::Same,
                };
                walkers[walker].add(&format!("m{method}"), claim, 1);
            }
            let truth = TrueProfile::of(&walkers);
            for pairs in &walkers {
                let summary = Summary::new(pairs, &truth);
                for (method, &ran) in ran.iter().enumerate().filter(|&(_, &ran)| ran > 0) {
                    let name = format!("m{method}");
                    let of = summary.methods.iter().find(|of| of.name == name).expect("it ran");
                    prop_assert_eq!(of.true_share, ran as f64 / instants.len() as f64);
                }
                let lost = summary.instants - summary.answered;
                prop_assert!(lost >= summary.unjudged);
                prop_assert_eq!(summary.instants, pairs.instants());
            }
        }
    }

    /// A walker whose answers at one method cannot be judged loses the method: the truth of the others does not move.
    #[test]
    fn what_is_not_judged_is_a_loss_of_the_walker() {
        let (mut blind, mut seeing) = (Pairs::default(), Pairs::default());
        for pairs in [&mut blind, &mut seeing] {
            pairs.add("other", Claim::Same, 600);
        }
        blind.add("hot", Claim::Unjudged, 1400);
        seeing.add("hot", Claim::Same, 1400);
        let truth = TrueProfile::of([&blind, &seeing]);
        let [blind, seeing] = [&blind, &seeing].map(|pairs| Summary::new(pairs, &truth));
        for summary in [&blind, &seeing] {
            let hottest = summary.hottest().expect("it ran");
            assert_eq!((hottest.name.as_str(), hottest.true_share), ("hot", 0.7));
        }
        assert_eq!((seeing.overlap, seeing.hottest_rank), (Some(1.0), Some(1)));
        assert_eq!((blind.answered, blind.unjudged), (600, 1400));
        assert_eq!((blind.overlap, blind.hottest_rank), (Some(0.3), None));
        assert!(blind.is_biased() && !seeing.is_biased());
    }
}
