//! Methods whose code is not, or not only, that of our maps: those of redefined classes, and those that another agent has
//! changed after us.

use crate::locks::{lock, read, write};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, RwLock};

/// The keys of all redefined classes. Each may stand for more than one version of a method.
#[derive(Debug, Default)]
pub struct Versions {
    /// Saves the lock in programs that redefine nothing.
    any: AtomicBool,
    /// When each key was last seen to stand for a new version; 0 if never.
    keys: RwLock<HashMap<usize, u64>>,
}

impl Versions {
    /// Whether no class was redefined.
    pub fn is_empty(&self) -> bool {
        !self.any.load(SeqCst)
    }

    /// The classes of these keys are being redefined.
    pub fn add(&self, keys: impl Iterator<Item = usize>) {
        let mut all = write(&self.keys);
        for key in keys {
            all.entry(key).or_default();
        }
        self.any.store(true, SeqCst);
    }

    /// The classes of these keys were unloaded.
    pub fn remove(&self, keys: impl Iterator<Item = usize>) {
        if self.is_empty() {
            return;
        }
        let mut all = write(&self.keys);
        for key in keys {
            all.remove(&key);
        }
    }

    /// Whether the class of `key` was redefined.
    pub fn contains(&self, key: usize) -> bool {
        let keys = || read(&self.keys);
        !self.is_empty() && keys().contains_key(&key)
    }

    /// The key was seen to stand for a new version at `time`.
    pub fn changed(&self, key: usize, time: u64) {
        let mut all = write(&self.keys);
        if let Some(changed) = all.get_mut(&key) {
            *changed = time;
        }
    }

    /// Whether the key was seen to stand for another version since `time`.
    pub fn has_changed_since(&self, key: usize, time: u64) -> bool {
        let all = read(&self.keys);
        all.get(&key).is_some_and(|&changed| changed >= time)
    }
}

/// The names of so many methods are written down.
const EXAMPLES: usize = 5;

/// The names of methods whose code another agent has changed after ours, as reports show them.
///
/// Such an agent gets each class after our hooks are in it. What the VM then runs is not the code that our
/// maps and class files are of. Nobody says so: the code that the VM reports shows it, where a method is
/// met for the first time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redefined_methods_are_known() {
        let versions = Versions::default();
        assert!(versions.is_empty() && !versions.contains(7));
        versions.add([7, 8].into_iter());
        assert!(!versions.is_empty() && versions.contains(7) && !versions.contains(9));
        assert!(!versions.has_changed_since(7, 1));
        versions.changed(7, 5);
        assert!(versions.has_changed_since(7, 5) && !versions.has_changed_since(7, 6));
        versions.remove([7].into_iter());
        assert!(!versions.contains(7) && versions.contains(8));
    }
}
