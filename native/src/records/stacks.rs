//! The true stacks and those that the walkers showed at the same instants.

use crate::locks::lock;
use oracle::bias::{Claim, Sampler, StackCounts, StackProfiles};
use oracle::trace::HookId;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Counted stacks of each walker. [`StackCounts`] bounds the memory: some 5 MiB for each walker.
#[derive(Default)]
pub struct StacksOfWalkers(Mutex<BTreeMap<Sampler, StackCounts>>);

impl StacksOfWalkers {
    /// Counts an instant at which `truth` ran, the lowest method first, and what the walker showed.
    pub fn add(&self, sampler: Sampler, truth: &[HookId], claim: Claim<&[HookId]>) {
        let mut all = lock(&self.0);
        all.entry(sampler).or_default().add(truth, claim);
    }

    /// The stacks so far, with the names that `name` gives to methods.
    pub fn profiles(
        &self,
        name: impl Fn(HookId) -> Option<String>,
    ) -> BTreeMap<Sampler, StackProfiles> {
        let all = lock(&self.0);
        let name = |hook| name(hook).unwrap_or_else(|| "unknown method".to_owned());
        let each = all.iter();
        each.map(|(&of, counts)| (of, counts.profiles(name)))
            .collect()
    }
}
