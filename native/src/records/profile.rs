//! Profiles: all stacks that the sampler sees, with their counts, and beside them the true stacks and those that the walkers
//! showed at the same instants.

use crate::locks::lock;
use oracle::bias::{Claim, Sampler, StackCounts, StackProfiles};
use oracle::profile::{Profile, STACKS};
use oracle::trace::{Frame, HookId, MethodKey};
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

/// The largest number of different stacks.
const MOST_STACKS: usize = 1 << 14;

/// The largest number of frames of all stacks: 8 MiB.
const MOST_FRAMES: usize = 1 << 20;

/// The depth to which stacks are kept. The lowest frames of a deeper stack are kept.
const DEEPEST: usize = 512;

/// Stacks by their methods, and the names of the methods.
#[derive(Default)]
pub struct Stacks {
    /// The methods, top first.
    counts: HashMap<Box<[MethodKey]>, u64, FxBuildHasher>,
    frames: usize,
    other: u64,
    /// The stack that is looked up.
    key: Vec<MethodKey>,
    /// The index of each method in `names`; `None` for methods that no profile shows.
    places: HashMap<MethodKey, Option<u32>, FxBuildHasher>,
    names: Vec<String>,
    by_name: HashMap<String, u32>,
}

impl Stacks {
    /// Counts a walk, top first. Allocates only if the stack is new.
    pub fn add(&mut self, walk: &[Frame]) {
        let kept = &walk[walk.len().saturating_sub(DEEPEST)..];
        self.key.clear();
        self.key.extend(kept.iter().map(|frame| frame.method));
        if let Some(count) = self.counts.get_mut(&self.key[..]) {
            *count += 1;
            return;
        }
        let frames = self.frames + self.key.len();
        if self.counts.len() >= MOST_STACKS || frames > MOST_FRAMES {
            self.other += 1;
            return;
        }
        self.frames = frames;
        self.counts.insert(self.key[..].into(), 1);
    }

    /// The profile so far. `name` is called once for each method, and returns `None` for methods
    /// that are left out.
    pub fn profile(&mut self, mut name: impl FnMut(MethodKey) -> Option<String>) -> Profile {
        let mut stacks = Vec::with_capacity(self.counts.len());
        for (methods, &count) in &self.counts {
            let mut stack = Vec::with_capacity(methods.len());
            for &method in methods.iter().rev() {
                let place = *self.places.entry(method).or_insert_with(|| {
                    let name = name(method)?;
                    // Methods of classes that were loaded twice share a name.
                    Some(*self.by_name.entry(name).or_insert_with_key(|name| {
                        self.names.push(name.clone());
                        self.names.len() as u32 - 1
                    }))
                });
                stack.extend(place);
            }
            stacks.push((stack, count));
        }
        Profile::new(&self.names, stacks, STACKS, self.other)
    }
}

/// Counted stacks of each walker. [`StackCounts`] bounds the memory: at most some 64 MiB for each walker.
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

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::trace::Location;

    fn walk(methods: impl IntoIterator<Item = usize>) -> Vec<Frame> {
        let frame = |(at, method): (usize, usize)| Frame {
            method: MethodKey(method),
            location: Location(at as i32),
        };
        methods.into_iter().enumerate().map(frame).collect()
    }

    fn seen(stacks: &mut Stacks) -> Vec<(Vec<String>, u64)> {
        let mut all = Vec::new();
        // Method 9 is a hook; 1 and 11 have the same name.
        let name = |key: MethodKey| (key.0 != 9).then(|| format!("m{}", key.0 % 10));
        stacks.profile(name).for_each(|stack, count| {
            all.push((stack.iter().map(|&name| name.into()).collect(), count));
        });
        all
    }

    #[test]
    fn stacks_are_their_methods_without_hooks() {
        let mut stacks = Stacks::default();
        for methods in [vec![2, 1], vec![9, 2, 1], vec![2, 11], vec![3, 1]] {
            stacks.add(&walk(methods));
        }
        let mut moved = walk([2, 1]);
        moved[0].location = Location(77);
        stacks.add(&moved);
        assert_eq!(stacks.counts.len(), 4, "a location is no part of it");
        let of = |names: [&str; 2], count| (names.map(String::from).to_vec(), count);
        let expected = [of(["m1", "m2"], 4), of(["m1", "m3"], 1)];
        assert_eq!(seen(&mut stacks), expected);
        stacks.add(&walk([3, 1]));
        assert_eq!(seen(&mut stacks)[1].1, 2, "and again, with the names known");
    }

    #[test]
    fn memory_is_bounded() {
        let mut stacks = Stacks::default();
        for number in 0..2 * MOST_STACKS {
            stacks.add(&walk([number]));
        }
        assert_eq!(stacks.counts.len(), MOST_STACKS);
        assert_eq!(stacks.other, MOST_STACKS as u64);

        let mut deep = Stacks::default();
        for number in 0..MOST_STACKS {
            let top = usize::MAX - number;
            deep.add(&walk([top].into_iter().chain(0..DEEPEST - 1)));
        }
        assert!(deep.frames <= MOST_FRAMES && deep.other > 0);
        deep.add(&walk(0..3 * DEEPEST));
        assert!(deep.counts.keys().all(|stack| stack.len() <= DEEPEST));
    }
}
