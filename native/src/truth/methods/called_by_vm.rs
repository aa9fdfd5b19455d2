//! Methods that the VM may call by itself, by their names.

use crate::jvm::key_hash::Spread;
use hotspot::runtime::is_called_by_vm;
use oracle::trace::MethodKey;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Whether the VM calls the methods that were asked about.
#[derive(Debug, Default)]
pub struct CalledByVm(RwLock<HashMap<usize, bool, Spread>>);

impl CalledByVm {
    /// Whether the VM calls the method of `key`. `name` gives the method as reports show it; a method
    /// without a name may be any.
    pub fn contains(&self, key: MethodKey, name: impl FnOnce() -> Option<String>) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_called) = known.get(&key.0) {
            return is_called;
        }
        drop(known);
        let Some(name) = name() else { return true };
        let is_called = is_called_by_vm(&name);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.0, is_called);
        is_called
    }

    /// Forgets the methods of these keys.
    pub fn forget(&self, keys: impl Iterator<Item = usize>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            known.remove(&key);
        }
    }
}
