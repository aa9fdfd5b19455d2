//! What the truth and a walker named at the same instants.

use super::claim::Claim;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of methods in a report. All others count as one, [`OTHERS`].
const MOST_METHODS: usize = 300;

/// The name of all methods beyond the most frequent ones.
pub const OTHERS: &str = "other methods";

/// Pairs of a true method and the walker's method at one instant, counted: the claims for each true method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pairs(BTreeMap<String, Claims>);

/// What the walker named while one method ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Claims {
    /// How often the walker did not answer.
    #[serde(default)]
    silent: u64,
    /// How often the walker said that it does not know the method.
    #[serde(default, skip_serializing_if = "is_zero")]
    unsure: u64,
    /// How often nobody can say what the walker named.
    #[serde(default, skip_serializing_if = "is_zero")]
    unjudged: u64,
    /// Of the instants at which the walker named the method that ran: those in windows.
    #[serde(default, skip_serializing_if = "is_zero")]
    windows: u64,
    /// How often the walker named each method.
    #[serde(default)]
    named: BTreeMap<String, u64>,
}

impl Claims {
    fn instants(&self) -> u64 {
        self.silent + self.unsure + self.unjudged + self.named.values().sum::<u64>()
    }
}

/// The counts of all walkers of a run, with names for the same most frequent methods, so that a report stays small and the
/// walkers have one truth.
pub fn bounded<K: Ord>(all: BTreeMap<K, Pairs>) -> BTreeMap<K, Pairs> {
    with_methods(all, MOST_METHODS)
}

fn with_methods<K: Ord>(all: BTreeMap<K, Pairs>, most: usize) -> BTreeMap<K, Pairs> {
    let mut frequent: BTreeMap<&str, u64> = BTreeMap::new();
    for pairs in all.values() {
        for (name, of) in pairs.of_methods() {
            *frequent.entry(name).or_default() += of.truth + of.won;
        }
    }
    if frequent.len() <= most {
        return all;
    }
    let mut frequent: Vec<(&str, u64)> = frequent.into_iter().collect();
    frequent.sort_by_key(|&(_, count)| Reverse(count));
    let kept: BTreeSet<String> = frequent
        .into_iter()
        .take(most)
        .map(|(name, _)| name.to_owned())
        .collect();
    let of = all.into_iter();
    of.map(|(key, pairs)| {
        let mut few = Pairs::default();
        few.add_all(
            &pairs,
            |name| if kept.contains(name) { name } else { OTHERS },
        );
        (key, few)
    })
    .collect()
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Pairs {
    /// Counts `instants` at which `truth` ran, and which the walker claimed to be so.
    pub fn add(&mut self, truth: &str, claim: Claim<&str>, instants: u64) {
        let claims = at(&mut self.0, truth);
        let counter = match claim {
            Claim::Silent => &mut claims.silent,
            Claim::Unsure => &mut claims.unsure,
            Claim::Unjudged => &mut claims.unjudged,
            Claim::Same => at(&mut claims.named, truth),
            Claim::InWindow => {
                claims.windows += instants;
                at(&mut claims.named, truth)
            }
            Claim::Named(name) => at(&mut claims.named, name),
        };
        *counter += instants;
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Pairs) {
        self.add_all(other, |name| name);
    }

    /// Adds all counts of `other`, in which `name` gives each method its name here.
    fn add_all<'n>(&mut self, other: &'n Pairs, name: impl Fn(&'n str) -> &'n str) {
        for (truth, claims) in &other.0 {
            let sum: &mut Claims = at(&mut self.0, name(truth));
            sum.silent += claims.silent;
            sum.unsure += claims.unsure;
            sum.unjudged += claims.unjudged;
            sum.windows += claims.windows;
            for (claimed, count) in &claims.named {
                *at(&mut sum.named, name(claimed)) += count;
            }
        }
    }

    /// Of the instants at which the walker named the method that ran: those in windows.
    pub fn windows(&self) -> u64 {
        self.0.values().map(|claims| claims.windows).sum()
    }

    /// Instants at which the walker said that it does not know the method.
    pub fn unsure(&self) -> u64 {
        self.0.values().map(|claims| claims.unsure).sum()
    }

    /// Instants at which nobody can say what the walker named.
    pub fn unjudged(&self) -> u64 {
        self.0.values().map(|claims| claims.unjudged).sum()
    }

    /// How many instants there were.
    pub fn instants(&self) -> u64 {
        self.0.values().map(Claims::instants).sum()
    }

    /// Each method that ran, with the instants at which it did.
    pub(super) fn truth(&self) -> impl Iterator<Item = (&str, u64)> {
        let all = self.0.iter();
        all.map(|(name, claims)| (name.as_str(), claims.instants()))
    }

    /// The counts of each method.
    pub(super) fn of_methods(&self) -> BTreeMap<&str, OfMethod> {
        let mut all: BTreeMap<&str, OfMethod> = BTreeMap::new();
        for (truth, claims) in &self.0 {
            all.entry(truth).or_default().truth += claims.silent + claims.unsure + claims.unjudged;
            for (claimed, &count) in &claims.named {
                let is_true = claimed == truth;
                let of_truth = all.entry(truth).or_default();
                of_truth.truth += count;
                of_truth.answered += count;
                let discordant = if is_true { 0 } else { count };
                of_truth.lost += discordant;
                let of_claimed = all.entry(claimed).or_default();
                of_claimed.claimed += count;
                of_claimed.won += discordant;
            }
        }
        all
    }
}

/// The value of a key, which is made if it is absent.
fn at<'m, T: Default>(map: &'m mut BTreeMap<String, T>, key: &str) -> &'m mut T {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), T::default());
    }
    map.get_mut(key).expect("it was just made")
}

/// The counts of one method.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct OfMethod {
    /// Instants at which the method ran.
    pub truth: u64,
    /// Of these, the instants at which the walker answered.
    pub answered: u64,
    /// Instants at which the walker named the method.
    pub claimed: u64,
    /// Instants at which the method ran, and the walker named another.
    pub lost: u64,
    /// Instants at which another method ran, and the walker named this one.
    pub won: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_and_come_back() {
        let mut pairs = Pairs::default();
        for (truth, claim) in [
            ("a", Claim::Same),
            ("a", Claim::Named("b")),
            ("a", Claim::Silent),
            ("a", Claim::Unsure),
            ("a", Claim::Unjudged),
            ("b", Claim::InWindow),
        ] {
            pairs.add(truth, claim, 1);
        }
        assert_eq!((pairs.instants(), pairs.windows()), (6, 1));
        assert_eq!((pairs.unjudged(), pairs.unsure()), (1, 1));
        let a = OfMethod {
            truth: 5,
            answered: 2,
            claimed: 1,
            lost: 1,
            won: 0,
        };
        let b = OfMethod {
            truth: 1,
            answered: 1,
            claimed: 2,
            lost: 0,
            won: 1,
        };
        assert_eq!(pairs.of_methods(), [("a", a), ("b", b)].into());
        let text = serde_json::to_string(&pairs).expect("plain data");
        let read: Pairs = serde_json::from_str(&text).expect("just written");
        assert_eq!(read, pairs, "{text}");
    }
    #[test]
    fn rare_methods_count_as_one() {
        let mut pairs = Pairs::default();
        pairs.add("a", Claim::Same, 9);
        pairs.add("a", Claim::Named("x"), 1);
        pairs.add("b", Claim::InWindow, 8);
        pairs.add("x", Claim::Named("b"), 2);
        pairs.add("y", Claim::Named("x"), 1);
        pairs.add("y", Claim::Silent, 1);
        let of_one = |pairs: &Pairs, most| {
            let mut all = with_methods([(0, pairs.clone())].into(), most);
            all.remove(&0).expect("it was given")
        };
        let bounded = of_one(&pairs, 2);
        let mut expected = Pairs::default();
        expected.add("a", Claim::Same, 9);
        expected.add("a", Claim::Named(OTHERS), 1);
        expected.add("b", Claim::InWindow, 8);
        expected.add(OTHERS, Claim::Named("b"), 2);
        expected.add(OTHERS, Claim::Same, 1);
        expected.add(OTHERS, Claim::Silent, 1);
        assert_eq!(bounded, expected);
        assert_eq!(bounded.instants(), pairs.instants());
        let mut twice = bounded.clone();
        twice.merge(&bounded);
        assert_eq!((twice.instants(), twice.windows()), (44, 16));
        assert_eq!(of_one(&pairs, MOST_METHODS), pairs, "few methods stay");
    }
}
