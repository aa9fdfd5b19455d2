//! The rewriter's counts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many bytes of method ids of unloaded classes may a JVM keep until new classes get none.
pub const MOST_KEPT_IDS: usize = 3 << 20;

/// The rewriter's counts in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rewriting {
    /// Classes with at least one hooked method.
    pub classes_hooked: u64,
    /// Methods with hooks.
    pub methods_hooked: u64,
    /// Of the hooked methods, those whose frames have an additional local variable.
    #[serde(default)]
    pub methods_with_more_locals: u64,
    /// Of the hooked methods, those whose frames have an additional slot of operand stack.
    #[serde(default)]
    pub methods_with_more_stack: u64,
    /// Hooked methods in the agent's memory: those of classes that are not unloaded.
    #[serde(default)]
    pub methods_known: u64,
    /// Hooked methods that the agent has forgotten, because their classes were unloaded.
    #[serde(default)]
    pub methods_forgotten: u64,
    /// Methods whose code another agent has changed after ours, as far as stacks have shown them.
    #[serde(default)]
    pub methods_altered: u64,
    /// A few of the methods that another agent has changed: `package.Class.name(descriptor)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered_examples: Vec<String>,
    /// Exact hooks that were native calls, to a few thousand of each thread.
    #[serde(default)]
    pub hooks_native: u64,
    /// Exact hooks that ran in Java, because their threads ran so many of them.
    #[serde(default)]
    pub hooks_in_java: u64,
    /// Classes that were left alone as a whole, by reason.
    pub classes_left: BTreeMap<String, u64>,
    /// Methods that were left alone in classes that were read, by reason.
    pub methods_left: BTreeMap<String, u64>,
    /// Classes of the program itself, not of the JDK, that were prepared.
    pub application_classes: u64,
    /// Classes whose methods got no ids, because HotSpot keeps the ids of unloaded classes for ever, and they took
    /// too much memory already. Stacks with these methods are not judged.
    #[serde(default)]
    pub classes_without_ids: u64,
    /// Trace stacks that were corrected after a StackOverflowError (or a similar error) in a hook.
    pub repairs: u64,
    /// Whether the sampler was still waiting for a safepoint when the VM ended.
    #[serde(default)]
    pub late_samplers: u64,
}
