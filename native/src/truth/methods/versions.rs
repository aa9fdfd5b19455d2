//! The keys of redefined classes. Each may stand for more than one version of a method.

use crate::locks::{read, write};
use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The keys of all redefined classes.
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
