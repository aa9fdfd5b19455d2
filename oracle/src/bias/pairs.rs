//! What the truth and a walker named at the same instants.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// How often the walker named each method.
    #[serde(default)]
    named: BTreeMap<String, u64>,
}

impl Pairs {
    /// Counts an instant at which `truth` ran, and the walker named `claimed`, or did not answer.
    pub fn add(&mut self, truth: &str, claimed: Option<&str>) {
        let claims = at(&mut self.0, truth);
        *match claimed {
            Some(claimed) => at(&mut claims.named, claimed),
            None => &mut claims.silent,
        } += 1;
    }

    /// How many instants there were.
    pub fn instants(&self) -> u64 {
        let named = |claims: &Claims| claims.named.values().sum::<u64>();
        let claims = self.0.values();
        claims.map(|claims| claims.silent + named(claims)).sum()
    }

    /// The counts of each method.
    pub(super) fn of_methods(&self) -> BTreeMap<&str, OfMethod> {
        let mut all: BTreeMap<&str, OfMethod> = BTreeMap::new();
        for (truth, claims) in &self.0 {
            all.entry(truth).or_default().truth += claims.silent;
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
        for (truth, claimed) in [
            ("a", Some("a")),
            ("a", Some("b")),
            ("a", None),
            ("b", Some("b")),
        ] {
            pairs.add(truth, claimed);
        }
        assert_eq!(pairs.instants(), 4);
        let a = OfMethod {
            truth: 3,
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
}
