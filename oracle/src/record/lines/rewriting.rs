//! What the rewriter did.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the rewriter did in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rewriting {
    /// Classes with at least one hooked method.
    pub classes_hooked: u64,
    /// Methods with hooks.
    pub methods_hooked: u64,
    /// Of the hooked methods, those whose frames have a local variable more than without hooks.
    #[serde(default)]
    pub methods_with_more_locals: u64,
    /// Of the hooked methods, those whose frames have a slot of operand stack more.
    #[serde(default)]
    pub methods_with_more_stack: u64,
    /// Hooked methods that the agent knows: those of classes that are not unloaded.
    #[serde(default)]
    pub methods_known: u64,
    /// Hooked methods that it has forgotten, because their classes were unloaded.
    #[serde(default)]
    pub methods_forgotten: u64,
    /// Classes that were left alone as a whole, by reason.
    pub classes_left: BTreeMap<String, u64>,
    /// Methods that were left alone in classes that were read, by reason.
    pub methods_left: BTreeMap<String, u64>,
    /// Classes of the program itself, not of the JDK, that were prepared.
    pub application_classes: u64,
    /// Trace stacks set right after a StackOverflowError (or the like) in a hook.
    pub repairs: u64,
    /// Whether the sampler was still waiting for a safepoint when the VM ended.
    #[serde(default)]
    pub late_samplers: u64,
}
