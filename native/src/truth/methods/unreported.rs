//! Classes whose methods' keys nobody has reported.
//!
//! The VM posts no event for a class that a thread prepares while it attaches itself. Most such classes are known early
//! (`attached::rehearse`). Any other is looked for when a walk shows a key without a class. Where new classes get no
//! ids (`kept_ids`), nothing is looked for: a look at all classes makes the ids of them all.

use super::key_origins::Origin;
use super::registry::Registry;
use oracle::trace::{HookId, MethodKey};

impl Registry {
    /// The origin of a key.
    pub(super) fn origin(&self, key: MethodKey) -> Origin {
        if self.kept_ids.are_too_many() {
            self.origins.origin_if_known(key.0)
        } else {
            self.origins.origin(key.0, || self.add_all_keys())
        }
    }

    /// The origin of a key, without waiting for its class.
    pub(super) fn origin_at_once(&self, key: MethodKey) -> Origin {
        if self.kept_ids.are_too_many() {
            self.origins.origin_if_known(key.0)
        } else {
            self.origins.origin_at_once(key.0, || self.add_all_keys())
        }
    }

    /// Adds the keys of all prepared classes.
    #[cold]
    fn add_all_keys(&self) {
        self.vm.with_env(|env| {
            for class in self.jvmti.loaded_classes(env).unwrap_or_default() {
                let methods = self.jvmti.create_method_ids(class.get());
                self.add_keys(&methods.unwrap_or_default());
            }
        });
    }

    /// Whether the method of one of `hooks` has no id, because those of unloaded classes take too much memory.
    pub fn lack_ids(&self, mut hooks: impl Iterator<Item = HookId>) -> bool {
        self.kept_ids.are_too_many() && {
            let hooked = self.all_hooked();
            hooks.any(|hook| hooked.get(&hook.0).is_some_and(|method| !method.has_id))
        }
    }
}
