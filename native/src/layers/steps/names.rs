//! Methods by name: the walkers name methods by their keys, and the VM's own data by addresses.
//!
//! Methods of one name are one method here. Classes of one name that several class loaders have are not
//! told apart.

use super::facts::Kept;
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::truth::methods::registry::Registry;
use oracle::trace::{Frame, MethodKey};
use std::collections::HashMap;
use std::rc::Rc;

/// The names that were looked up.
#[derive(Default)]
pub struct Names {
    /// The key that stands for all methods of the name.
    keys: HashMap<Rc<str>, MethodKey>,
    /// The key that stands for the method of a walker's key.
    of_key: HashMap<usize, MethodKey>,
    /// The names of methods by their addresses.
    of_address: HashMap<usize, Option<Rc<str>>>,
    /// Facts about code and methods.
    pub kept: Kept,
}

impl Names {
    /// The key that stands for a walker's `key`.
    pub fn walked(&mut self, methods: &Registry, env: Env<'_>, key: MethodKey) -> MethodKey {
        if let Some(&known) = self.of_key.get(&key.0) {
            return known;
        }
        if methods.full_name(env, key).is_none() {
            return key;
        }
        let name: Rc<str> = methods.name(env, key).replace('+', ".").into();
        let stands = *self
            .keys
            .entry(name)
            .and_modify(|stands| {
                if is_made_up(*stands) {
                    *stands = key;
                }
            })
            .or_insert(key);
        self.of_key.insert(key.0, stands);
        stands
    }

    /// The frames of a walk, with the keys that stand for their methods.
    pub fn walk(&mut self, methods: &Registry, env: Env<'_>, walk: &[Frame]) -> Vec<Frame> {
        let stands = |frame: &Frame| Frame {
            method: self.walked(methods, env, frame.method),
            location: frame.location,
        };
        walk.iter().map(stands).collect()
    }

    /// The key that stands for the VM's method at `address`; `None` if there is no method. Methods that the VM itself has
    /// made have no jmethodID, and walkers give 0.
    pub fn method(&mut self, jvm: &Jvm, address: usize) -> Option<MethodKey> {
        let facts = jvm.step_facts.as_ref().ok();
        if facts.is_some_and(|facts| facts.is_linker(address)) {
            return Some(MethodKey(0));
        }
        let find = || Some(jvm.code_cache().ok()?.full_method_name(address)?.into());
        let name = self.of_address.entry(address).or_insert_with(find);
        let made_up = MethodKey(address | MADE_UP);
        Some(*self.keys.entry(name.clone()?).or_insert(made_up))
    }
}

/// Set in keys of methods that no walk has shown. No address has this bit.
const MADE_UP: usize = 1 << 63;

fn is_made_up(key: MethodKey) -> bool {
    key.0 & MADE_UP != 0
}
