//! What the truth and the walkers named at the same instants.

use crate::locks::lock;
use oracle::bias::{Claim, Pairs, Sampler, bounded};
use oracle::trace::{HookId, MethodKey};
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

/// The largest number of different pairs. Further pairs are counted without their names.
const MOST: usize = 1 << 14;

/// The truth of pairs that are counted without their names.
const UNNAMED: HookId = HookId(u32::MAX);

/// A method that a walker named.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub enum Named {
    /// By its key.
    Key(MethodKey),
    /// By its name, which is that of this hooked method.
    Hooked(HookId),
}

/// A walker's claim while a method ran.
type Pair = (Sampler, HookId, Claim<Option<Named>>);

/// Counted pairs.
#[derive(Default)]
pub struct PairCounts(Mutex<HashMap<Pair, u64, FxBuildHasher>>);

impl PairCounts {
    /// Counts an instant at which the method of `ran` ran.
    pub fn add(&self, sampler: Sampler, ran: HookId, claim: Claim<Option<Named>>) {
        let mut counts = self.counts();
        let full = counts.len() >= MOST;
        let pair = match (sampler, ran, claim) {
            known if !full || counts.contains_key(&known) => known,
            (_, _, Claim::Named(_)) => (sampler, UNNAMED, Claim::Named(None)),
            _ => (sampler, UNNAMED, claim),
        };
        *counts.entry(pair).or_default() += 1;
    }

    /// The pairs so far, with the names that `truth` gives to methods that ran, and `claimed` to methods of walkers.
    pub fn named(
        &self,
        truth: impl Fn(HookId) -> Option<String>,
        claimed: impl Fn(MethodKey) -> String,
    ) -> BTreeMap<Sampler, Pairs> {
        let counts = self.counts().clone();
        let mut all: BTreeMap<Sampler, Pairs> = BTreeMap::new();
        for ((sampler, ran, claim), count) in counts {
            let of_hook = |hook| truth(hook).unwrap_or_else(|| "unknown method".to_owned());
            let of_named = |named| match named {
                Named::Key(key) => claimed(key),
                Named::Hooked(hook) => of_hook(hook),
            };
            let claim = claim.map(|named| named.map_or_else(|| "no method".to_owned(), of_named));
            let truth = of_hook(ran);
            let pairs = all.entry(sampler).or_default();
            pairs.add(&truth, claim.as_ref().map(String::as_str), count);
        }
        bounded(all)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Pair, u64, FxBuildHasher>> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::Layer;

    #[test]
    fn memory_is_bounded_and_no_instant_is_lost() {
        let (pairs, of) = (PairCounts::default(), Sampler::Walker(Layer::AsgctAsync));
        pairs.add(of, HookId(0), Claim::Same);
        for number in 0..2 * MOST {
            let named = Claim::Named(Some(Named::Key(MethodKey(number))));
            pairs.add(of, HookId(1), named);
        }
        pairs.add(of, HookId(0), Claim::Same);
        let counts = pairs.counts();
        assert_eq!(counts.len(), MOST + 1);
        assert_eq!(counts.values().sum::<u64>(), 2 * MOST as u64 + 2);
        assert_eq!(counts[&(of, HookId(0), Claim::Same)], 2, "a known pair");
        let unnamed = (of, UNNAMED, Claim::Named(None));
        assert_eq!(counts[&unnamed], MOST as u64 + 1);
    }
}
