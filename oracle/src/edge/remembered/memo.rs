//! Findings that were made, remembered for as long as they hold.

use super::spread::Spread;
use crate::edge::finding::Finding;
use std::collections::HashMap;
use std::hash::Hash;

/// Findings by what they are on.
#[derive(Clone, Debug)]
pub(in crate::edge) struct Memo<K>(HashMap<K, (Finding, u32), Spread>);

impl<K> Default for Memo<K> {
    fn default() -> Memo<K> {
        Memo(HashMap::default())
    }
}

impl<K: Copy + Eq + Hash> Memo<K> {
    /// The finding on `what` among the classes of this `version`; made by `find` unless one that
    /// holds is remembered.
    pub(in crate::edge) fn get(
        &mut self,
        what: K,
        version: u32,
        find: impl FnOnce() -> Finding,
    ) -> Finding {
        match self.0.get(&what) {
            // More classes make nothing impossible that was possible.
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
