//! Methods that the VM may call by itself, by their names.

use crate::locks::{read, write};
use hotspot::runtime::is_called_by_vm;
use oracle::trace::MethodKey;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::sync::RwLock;

/// Whether the VM calls the methods that were asked about.
#[derive(Debug, Default)]
pub struct CalledByVm(RwLock<HashMap<usize, bool, FxBuildHasher>>);

impl CalledByVm {
    /// Whether the VM calls the method of `key`. `name` gives the method as reports show it; a method
    /// without a name may be any.
    pub fn contains(&self, key: MethodKey, name: impl FnOnce() -> Option<String>) -> bool {
        let known = read(&self.0);
        if let Some(&is_called) = known.get(&key.0) {
            return is_called;
        }
        drop(known);
        let Some(name) = name() else { return true };
        let is_called = is_called_by_vm(&name);
        let mut known = write(&self.0);
        known.insert(key.0, is_called);
        is_called
    }

    /// Forgets the methods of these keys.
    pub fn forget(&self, keys: impl Iterator<Item = usize>) {
        let mut known = write(&self.0);
        for key in keys {
            known.remove(&key);
        }
    }
}
