//! Hooked methods by the names that Java code gets. Overloaded methods are one method: the first of them that was seen.

use crate::truth::methods::registry::Registry;
use crate::walkers::walker::StackElement;
use oracle::trace::{HookId, Location};
use std::collections::HashMap;

/// The binary name of a class, and the name of a method.
type Name = (String, String);

/// The method that stands for all methods of its name.
#[derive(Default)]
pub struct ByName {
    of_names: HashMap<Name, HookId>,
    of_hooks: HashMap<HookId, HookId>,
    /// Names that no hooked method had, when there were so many hooked methods.
    unknown: HashMap<Name, usize>,
}

impl ByName {
    /// A true stack, the lowest method first; `None` if a method is gone.
    pub fn of_truth(&mut self, stack: &[HookId], methods: &Registry) -> Option<Vec<HookId>> {
        let stands = |hook: &HookId| self.standing(*hook, methods);
        stack.iter().map(stands).collect()
    }

    fn standing(&mut self, hook: HookId, methods: &Registry) -> Option<HookId> {
        if let Some(&known) = self.of_hooks.get(&hook) {
            return Some(known);
        }
        let hooked = methods.by_hook(hook)?;
        let name = (
            hooked.class.replace('/', "."),
            hooked.method.name.to_string(),
        );
        let stands = *self.of_names.entry(name).or_insert(hook);
        self.of_hooks.insert(hook, stands);
        Some(stands)
    }

    /// The hooked methods of a stack that Java code gave, the lowest first. Native methods have no hooks, and a hooked
    /// method of the same name does not run.
    pub fn of_answer(&mut self, answer: &[StackElement], methods: &Registry) -> Vec<HookId> {
        let hooked = answer
            .iter()
            .filter(|element| element.line != Location::NATIVE);
        let named = |element: &StackElement| self.named(element, methods);
        hooked.rev().filter_map(named).collect()
    }

    fn named(&mut self, element: &StackElement, methods: &Registry) -> Option<HookId> {
        let name = (element.class.replace('/', "."), element.method.clone());
        if let Some(&known) = self.of_names.get(&name) {
            return Some(known);
        }
        let hooked = methods.number_hooked();
        if self.unknown.get(&name) == Some(&hooked) {
            return None;
        }
        let found = methods.named(&name.0, &name.1);
        match found {
            Some(hook) => _ = self.of_names.insert(name, hook),
            None => _ = self.unknown.insert(name, hooked),
        }
        found
    }
}
