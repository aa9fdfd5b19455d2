//! The names of methods in truths, looked up when a truth is written first.
//!
//! The facts of methods are written at the end of a run, and by then a class may be unloaded or redefined: the VM has
//! forgotten its methods, and so have we. One truth in fifty had such a method, and no stack can be judged by it.

use crate::jvm::jni::Env;
use crate::truth::context::Truth;
use hotspot::runtime::is_called_by_vm;
use oracle::recorded::RecordedTruth;
use oracle::requests::MethodFacts;
use oracle::trace::{HookId, Location, MethodKey, Methods, Site};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// What is known of methods by their hooks alone. Of their code nothing is kept, so that it proves nothing.
#[derive(Default)]
pub struct EarlyNames {
    /// By hook; `None` if the method was gone already.
    of_hooks: HashMap<u32, Option<MethodFacts>>,
    /// By the number of a method of a checked frame.
    of_methods: HashMap<u32, Option<MethodFacts>>,
}

impl EarlyNames {
    /// Looks up the methods of a truth that are new. `key` gives the method that has a number. `env` is the calling
    /// thread's.
    pub fn add(
        &mut self,
        recorded: &RecordedTruth,
        truth: &Truth,
        env: Env<'_>,
        key: impl Fn(u32) -> Option<MethodKey>,
    ) {
        for &hook in &recorded.entries {
            if let Entry::Vacant(new) = self.of_hooks.entry(hook) {
                new.insert(of_hook(truth, hook));
            }
        }
        for number in recorded.checked.iter().map(|(number, _)| number - 1) {
            if let Entry::Vacant(new) = self.of_methods.entry(number) {
                new.insert(key(number).and_then(|key| of_method(truth, env, key)));
            }
        }
    }

    /// The facts of methods whose own facts are not known at the end: those of checked frames with their numbers, if none of
    /// `numbers`, and others, if their hook is none of `hooks`.
    pub fn gone(
        self,
        numbers: &HashSet<u32>,
        hooks: &HashSet<u32>,
    ) -> (Vec<(u32, MethodFacts)>, Vec<MethodFacts>) {
        let numbered = self.of_methods.into_iter();
        let numbered = numbered.filter(|(number, _)| !numbers.contains(number));
        let numbered = numbered.filter_map(|(number, facts)| Some((number, facts?)));
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort_by_key(|&(number, _)| number);
        let have_number: HashSet<u32> = numbered
            .iter()
            .filter_map(|(_, facts)| facts.hook)
            .collect();
        let hooked = self.of_hooks.into_iter();
        let hooked =
            hooked.filter(|(hook, _)| !hooks.contains(hook) && !have_number.contains(hook));
        let mut hooked: Vec<_> = hooked.filter_map(|(_, facts)| facts).collect();
        hooked.sort_by_key(|facts| facts.hook);
        (numbered, hooked)
    }
}

fn of_hook(truth: &Truth, hook: u32) -> Option<MethodFacts> {
    let hooked = truth.methods.by_hook(HookId(hook))?;
    Some(MethodFacts {
        class: hooked.class.to_string(),
        name: hooked.method.name.to_string(),
        descriptor: hooked.method.descriptor.to_string(),
        hook: Some(hook),
        by_vm: is_called_by_vm(&hooked.full_name()),
        is_gone: true,
        ..MethodFacts::default()
    })
}

fn of_method(truth: &Truth, env: Env<'_>, key: MethodKey) -> Option<MethodFacts> {
    let methods = &truth.methods;
    let (class, name, descriptor) = methods.full_name(env, key)?;
    let hook = methods.hook(key, Location(0));
    Some(MethodFacts {
        class,
        name,
        descriptor,
        hook: hook.map(|(hook, _)| hook.0),
        is_native: methods.site(key, Location::NATIVE) == Site::Native,
        is_hook_call: methods.is_hook_call(key),
        by_vm: methods.may_be_called_by_vm(key),
        is_gone: true,
        ..MethodFacts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, hook: u32) -> Option<MethodFacts> {
        Some(MethodFacts {
            name: name.into(),
            hook: Some(hook),
            is_gone: true,
            ..MethodFacts::default()
        })
    }

    #[test]
    fn methods_without_facts_of_their_own_are_gone_each_once() {
        let early = EarlyNames {
            of_hooks: [
                (5, facts("checked", 5)),
                (6, facts("here", 6)),
                (7, facts("gone", 7)),
                (8, None),
            ]
            .into(),
            of_methods: [(0, facts("checked", 5)), (1, facts("here", 6)), (2, None)].into(),
        };
        let (numbered, hooked) = early.gone(&HashSet::from([1]), &HashSet::from([6]));
        let numbered: Vec<_> = numbered
            .iter()
            .map(|(number, of)| (*number, &*of.name))
            .collect();
        assert_eq!(numbered, [(0, "checked")]);
        let hooked: Vec<_> = hooked.iter().map(|of| &*of.name).collect();
        assert_eq!(hooked, ["gone"]);
    }
}
