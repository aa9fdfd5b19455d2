//! Which keys may stand for more than one version of a method, because its class was redefined.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{PoisonError, RwLock};

/// The keys of all redefined classes.
#[derive(Debug, Default)]
pub struct Versions {
    /// Spares programs that redefine nothing the lock.
    any: AtomicBool,
    keys: RwLock<HashSet<usize>>,
}

impl Versions {
    /// Whether no class was redefined.
    pub fn is_empty(&self) -> bool {
        !self.any.load(SeqCst)
    }

    /// The classes of these keys are being redefined.
    pub fn add(&self, keys: impl Iterator<Item = usize>) {
        let mut all = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        all.extend(keys);
        self.any.store(true, SeqCst);
    }

    /// The classes of these keys were unloaded.
    pub fn remove(&self, keys: impl Iterator<Item = usize>) {
        if self.is_empty() {
            return;
        }
        let mut all = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            all.remove(&key);
        }
    }

    /// Whether the class of `key` was redefined.
    pub fn contains(&self, key: usize) -> bool {
        let keys = || self.keys.read().unwrap_or_else(PoisonError::into_inner);
        !self.is_empty() && keys().contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_was_redefined() {
        let versions = Versions::default();
        assert!(versions.is_empty() && !versions.contains(7));
        versions.add([7, 8].into_iter());
        assert!(!versions.is_empty() && versions.contains(7) && !versions.contains(9));
        versions.remove([7].into_iter());
        assert!(!versions.contains(7) && versions.contains(8));
    }
}
