//! Which keys have stood for more than one version of a method, because its class was redefined.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A point in the order of the changes that were noticed.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd)]
pub struct Epoch(u64);

/// The keys of all redefined classes, with when their last change was noticed.
#[derive(Debug, Default)]
pub struct Versions {
    epoch: AtomicU64,
    /// Spares programs that redefine nothing the lock.
    any: AtomicBool,
    changed: RwLock<HashMap<usize, Epoch>>,
}

impl Versions {
    /// Now.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.epoch.load(SeqCst))
    }

    /// Whether no class was redefined.
    pub fn is_empty(&self) -> bool {
        !self.any.load(SeqCst)
    }

    /// The classes of these keys are being redefined.
    pub fn add(&self, keys: impl Iterator<Item = usize>) {
        let mut changed = self.write();
        for key in keys {
            changed.entry(key).or_default();
        }
        self.any.store(true, SeqCst);
    }

    /// Whether the class of `key` was redefined.
    pub fn contains(&self, key: usize) -> bool {
        !self.is_empty() && self.read().contains_key(&key)
    }

    /// It was noticed that `key` stands for another version than before.
    pub fn changed(&self, key: usize) {
        let mut changed = self.write();
        let now = Epoch(self.epoch.fetch_add(1, SeqCst) + 1);
        changed.insert(key, now);
    }

    /// Whether `key` was noticed to have changed after `asked`.
    pub fn changed_since(&self, key: usize, asked: Epoch) -> bool {
        !self.is_empty() && self.read().get(&key).is_some_and(|&last| last > asked)
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<usize, Epoch>> {
        self.changed.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<usize, Epoch>> {
        self.changed.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_concerns_what_was_asked_before() {
        let versions = Versions::default();
        assert!(versions.is_empty() && !versions.contains(7));
        versions.add([7, 8].into_iter());
        let before = versions.epoch();
        assert!(versions.contains(7) && !versions.changed_since(7, before));
        versions.changed(7);
        assert!(versions.changed_since(7, before) && !versions.changed_since(8, before));
        assert!(!versions.changed_since(7, versions.epoch()));
        versions.add([7].into_iter());
        assert!(versions.changed_since(7, before));
    }
}
