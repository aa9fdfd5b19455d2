//! Methods whose code another agent has changed after ours.
//!
//! Such an agent gets each class after our hooks are in it. What the VM then runs is not the code that our
//! maps and class files are of. No event says so: the code that the VM reports shows it, where a method is
//! met for the first time.
//!
//! The VM shows retransformed classes to agents alone that may retransform (`JvmtiClassFileLoadHookPoster` in
//! `jvmtiExport.cpp`), and the capability to do so changes compiled code. So the code of a method is read again
//! where a walk differs from the truth.

use super::hooked::Known;
use super::registry::Registry;
use crate::jvm::os::clock;
use crate::locks::lock;
use oracle::trace::{Frame, HookId, MethodKey};
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

impl Registry {
    /// Looks at the code of the methods of `walk` once more. Where a frame names no method, the methods of
    /// `entries` are looked at, too. What has changed counts as redefined from here on.
    pub(super) fn notice_changes(&self, walk: &[Frame], entries: &[HookId]) {
        let keys = walk.iter().map(|frame| frame.method);
        let names_none = |frame: &Frame| !self.is_safe(frame.method);
        let of_entries = if walk.iter().any(names_none) {
            entries
        } else {
            &[]
        };
        let of_entries = of_entries.iter().filter_map(|&hook| self.key_of(hook));
        for key in keys.chain(of_entries) {
            if !self.was_redefined(key) && self.is_safe(key) && self.has_changed(key) {
                self.changed(key, clock::since_start());
            }
        }
    }

    /// Whether the code of a method is not what it was when the method was met.
    fn has_changed(&self, key: MethodKey) -> bool {
        let is_altered = |known: &Known| known.hooked().is_some_and(|hooked| hooked.is_altered);
        let (before, now) = (self.known(key), self.ask(key));
        before.hook() != now.hook()
            || is_altered(&before) != is_altered(&now)
            || self.sites.has_changed(self.jvmti, key)
    }
}
