//! A copied trace stack in the form that judges take.

use super::methods::registry::Registry;
use super::trace_stack::StackCopy;
use oracle::trace::{HookId, Leaving, TraceSnapshot};

/// A copied trace stack, with facts about its methods.
pub struct ReadStack<'c> {
    copy: &'c StackCopy,
    hooks: Vec<HookId>,
    leaving: Vec<Leaving>,
    /// How many checked frames lie below the lowest whose class was redefined, if there is one.
    below_redefined: Option<usize>,
}

impl<'c> ReadStack<'c> {
    /// Reads `copy`.
    pub fn new(copy: &'c StackCopy, methods: &Registry) -> ReadStack<'c> {
        let mut checked = copy.checked_frames().iter();
        ReadStack {
            copy,
            hooks: copy.hooks().collect(),
            leaving: copy.leaving(|called, hook| methods.is_left_by(called, hook)),
            below_redefined: if methods.has_one_version_each() {
                None
            } else {
                checked.position(|frame| methods.was_redefined(frame.method))
            },
        }
    }

    /// What the judges get. The key of a checked frame stands for another version from the moment
    /// on at which the frame's class is redefined. From there on the entries alone tell the versions apart.
    pub fn truth(&self) -> TraceSnapshot<'_> {
        let truth = self.copy.truth(&self.hooks, &self.leaving);
        let Some(below) = self.below_redefined else {
            return truth;
        };
        let (checked, checked_entries) = self.copy.checked_within(below);
        TraceSnapshot {
            checked,
            checked_entries,
            ..truth
        }
    }
}
