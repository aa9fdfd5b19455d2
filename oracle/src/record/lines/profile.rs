//! A profile: all sampled stacks, with their counts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The largest number of stacks in a profile.
pub const STACKS: usize = 2000;

/// The most frequent stacks of one run, in a form that stays small.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The methods' names, each once.
    pub methods: Vec<String>,
    /// The stacks, sorted so that neighbours have much in common.
    pub stacks: Vec<Stack>,
    /// The number of samples of stacks that are not in `stacks`.
    #[serde(default)]
    pub other: u64,
}

/// A stack. Its text is `COUNT SHARED METHOD…`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Stack {
    /// How often it was sampled.
    pub count: u64,
    /// How many of its lowest frames it shares with the stack before it.
    pub shared: usize,
    /// Its other frames, from below, as indices into [`Profile::methods`].
    pub methods: Vec<u32>,
}

impl Profile {
    /// The `limit` most frequent of `stacks`, whose methods are indices into `names`, the lowest
    /// frame first. A stack may be there more than once. `other` is the number of samples whose
    /// stack is not among them.
    pub fn new(
        names: &[String],
        stacks: impl IntoIterator<Item = (Vec<u32>, u64)>,
        limit: usize,
        other: u64,
    ) -> Profile {
        let mut sums: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for (stack, count) in stacks {
            *sums.entry(stack).or_default() += count;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let left = sums.split_off(limit.min(sums.len()));
        sums.sort();

        let mut profile = Profile {
            other: other + left.iter().map(|(_, count)| count).sum::<u64>(),
            ..Profile::default()
        };
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        let mut before: &[u32] = &[];
        for (stack, count) in &sums {
            let shared = before.iter().zip(stack).take_while(|(a, b)| a == b).count();
            let methods = stack[shared..].iter().map(|&method| {
                *places.entry(method).or_insert_with(|| {
                    let name = names.get(method as usize).map_or("", String::as_str);
                    profile.methods.push(name.into());
                    profile.methods.len() as u32 - 1
                })
            });
            let methods = methods.collect();
            profile.stacks.push(Stack {
                count: *count,
                shared,
                methods,
            });
            before = stack;
        }
        profile
    }

    /// All samples.
    pub fn samples(&self) -> u64 {
        self.other + self.stacks.iter().map(|stack| stack.count).sum::<u64>()
    }

    /// Whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty() && self.other == 0
    }

    /// Passes each stack to `see`: the names of its methods, the lowest frame first, and its count.
    pub fn for_each<'a>(&'a self, mut see: impl FnMut(&[&'a str], u64)) {
        let mut names: Vec<&str> = Vec::new();
        for stack in &self.stacks {
            names.truncate(stack.shared);
            let name = |&method: &u32| self.methods.get(method as usize).map_or("?", |m| m);
            names.extend(stack.methods.iter().map(name));
            see(&names, stack.count);
        }
    }
}

impl From<Stack> for String {
    fn from(stack: Stack) -> String {
        let mut text = format!("{} {}", stack.count, stack.shared);
        for method in stack.methods {
            let _ = write!(text, " {method}");
        }
        text
    }
}

impl TryFrom<String> for Stack {
    type Error = String;

    fn try_from(text: String) -> Result<Stack, String> {
        let wrong = || format!("`{text}` is no stack of a profile");
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (count, shared) = number().zip(number()).ok_or_else(wrong)?;
        let methods = words.map(str::parse).collect::<Result<_, _>>();
        Ok(Stack {
            count,
            shared: shared as usize,
            methods: methods.map_err(|_| wrong())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(n: u32) -> Vec<String> {
        (0..n).map(|i| format!("m{i}")).collect()
    }

    fn seen(profile: &Profile) -> BTreeMap<Vec<String>, u64> {
        let mut all = BTreeMap::new();
        profile.for_each(|stack, count| {
            let stack = stack.iter().map(|&name| name.into()).collect();
            assert_eq!(all.insert(stack, count), None, "each stack is there once");
        });
        all
    }

    proptest! {
        #[test]
        fn every_stack_comes_back(stacks in prop::collection::vec((prop::collection::vec(0u32..4, 0..6), 1u64..9), 0..40)) {
            let names = names(4);
            let mut sums: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            for (stack, count) in &stacks {
                let stack = stack.iter().map(|&m| names[m as usize].clone()).collect();
                *sums.entry(stack).or_default() += count;
            }
            let profile = Profile::new(&names, stacks, STACKS, 3);
            prop_assert_eq!(profile.samples(), sums.values().sum::<u64>() + 3);
            prop_assert_eq!(&seen(&profile), &sums);
            let text = serde_json::to_string(&profile).expect("plain data");
            prop_assert_eq!(serde_json::from_str::<Profile>(&text).expect("just written"), profile);
        }
    }

    #[test]
    fn the_most_frequent_stay() {
        let stacks = [(vec![3], 1), (vec![0, 1], 5), (vec![0, 2], 4), (vec![3], 2)];
        let profile = Profile::new(&names(4), stacks, 2, 10);
        assert_eq!(profile.methods, ["m0", "m1", "m2"]);
        let stacks: Vec<String> = profile.stacks.iter().cloned().map(Into::into).collect();
        assert_eq!(stacks, ["5 0 0 1", "4 1 2"]);
        assert_eq!((profile.other, profile.samples()), (13, 22));
        assert!(!profile.is_empty() && Profile::default().is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in ["", "5", "5 x", "5 0 -1", "5 0 "] {
            assert!(Stack::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        // An invalid index or number of shared frames gives wrong names, and no panic.
        let odd = Profile {
            methods: vec![],
            stacks: vec![Stack {
                count: 1,
                shared: 9,
                methods: vec![7],
            }],
            other: 0,
        };
        assert_eq!(seen(&odd), BTreeMap::from([(vec!["?".into()], 1)]));
    }
}
