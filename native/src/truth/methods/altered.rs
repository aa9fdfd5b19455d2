//! Methods whose code another agent has changed after ours.
//!
//! Such an agent gets each class after our hooks are in it. What the VM then runs is not the code that our
//! maps and class files are of. Nobody says so: the code that the VM reports shows it, where a method is
//! met for the first time.

use crate::locks::lock;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The names of so many methods are written down.
const EXAMPLES: usize = 5;

/// The names of these methods, as reports show them.
#[derive(Debug, Default)]
pub struct Altered(Mutex<BTreeSet<String>>);

impl Altered {
    /// Adds a method.
    pub fn add(&self, name: String) {
        let mut names = lock(&self.0);
        names.insert(name);
    }

    /// How many there are, and the names of a few.
    pub fn seen(&self) -> (u64, Vec<String>) {
        let names = lock(&self.0);
        let few = names.iter().take(EXAMPLES).cloned().collect();
        (names.len() as u64, few)
    }
}
