//! Findings, kept as long as they are valid.

use super::finding::Finding;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::hash::Hash;

/// Findings by their subjects.
#[derive(Clone, Debug)]
pub(super) struct Memo<K>(HashMap<K, (Finding, u32), FxBuildHasher>);

impl<K> Default for Memo<K> {
    fn default() -> Memo<K> {
        Memo(HashMap::default())
    }
}

impl<K: Copy + Eq + Hash> Memo<K> {
    /// The finding on `what` among the classes of this `version`. `find` makes the finding, unless
    /// a valid finding is kept.
    pub(super) fn get(&mut self, what: K, version: u32, find: impl FnOnce() -> Finding) -> Finding {
        match self.0.get(&what) {
            // More classes make no possible edge impossible.
            Some(&(finding @ Finding::Possible(_), _)) => finding,
            Some(&(finding, then)) if then == version => finding,
            _ => {
                let finding = find();
                self.0.insert(what, (finding, version));
                finding
            }
        }
    }
}
