//! What the truth and a walker named at the same instants.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Pairs of a true method and the walker's method at one instant, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    /// The methods, by number.
    pub names: Vec<String>,
    /// The true method, the walker's method (`None`: it did not answer), and how often.
    pub counts: Vec<(u32, Option<u32>, u64)>,
    #[serde(skip)]
    numbers: HashMap<String, u32>,
    #[serde(skip)]
    places: HashMap<(u32, Option<u32>), usize>,
}

impl Pairs {
    /// Counts an instant at which `truth` ran, and the walker named `claimed`, or did not answer.
    pub fn add(&mut self, truth: &str, claimed: Option<&str>) {
        let truth = self.number(truth);
        let claimed = claimed.map(|claimed| self.number(claimed));
        let Pairs { counts, places, .. } = self;
        let place = *places.entry((truth, claimed)).or_insert_with(|| {
            counts.push((truth, claimed, 0));
            counts.len() - 1
        });
        counts[place].2 += 1;
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// How many instants there were.
    pub fn instants(&self) -> u64 {
        self.counts.iter().map(|(_, _, count)| count).sum()
    }

    /// The counts of each method, by number.
    pub(super) fn of_methods(&self) -> BTreeMap<u32, OfMethod> {
        let mut all: BTreeMap<u32, OfMethod> = BTreeMap::new();
        for &(truth, claimed, count) in &self.counts {
            let of_truth = all.entry(truth).or_default();
            of_truth.truth += count;
            match claimed {
                None => {}
                Some(claimed) if claimed == truth => {
                    of_truth.answered += count;
                    of_truth.claimed += count;
                }
                Some(claimed) => {
                    of_truth.answered += count;
                    of_truth.lost += count;
                    let of_claimed = all.entry(claimed).or_default();
                    of_claimed.claimed += count;
                    of_claimed.won += count;
                }
            }
        }
        all
    }
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
