//! A copied trace stack in the form that judges take.

use super::methods::registry::Registry;
use super::trace_stack::StackCopy;
use oracle::trace::{HookId, Leaving, Truth};

/// A copied trace stack, with facts about its methods.
pub struct ReadStack<'c> {
    copy: &'c StackCopy,
    hooks: Vec<HookId>,
    leaving: Vec<Leaving>,
}

impl<'c> ReadStack<'c> {
    /// Reads `copy`.
    pub fn new(copy: &'c StackCopy, methods: &Registry) -> ReadStack<'c> {
        ReadStack {
            copy,
            hooks: copy.hooks().collect(),
            leaving: copy.leaving(|called, hook| methods.is_left_by(called, hook)),
        }
    }

    /// The truth for judges.
    pub fn truth(&self) -> Truth<'_> {
        self.copy.truth(&self.hooks, &self.leaving)
    }
}
