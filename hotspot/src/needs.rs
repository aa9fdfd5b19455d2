//! What each layer needs of a VM.
//!
//! The agent compares that with what the VM publishes, and writes down what is lost. A layer that needs something that is
//! lost is not judged: it would blame the JVM for what Stackwitness cannot see.

use crate::capability::{Capability, IMPRECISE};
use crate::causes::CAUSES;
use crate::walkers::Walker;
use oracle::{Layer, TruthKind};
use std::collections::BTreeSet;

/// What the truth by steps reads.
const STEPS: &[Capability] = &[
    Capability::CodeCache,
    Capability::CompiledMethods,
    Capability::DebugInfo,
    Capability::ThreadStates,
    Capability::JavaCalls,
    Capability::Interpreter,
    Capability::MethodNames,
];

/// What a layer needs: what its walker and its truth need, and what explains the mismatches of its walker.
pub fn needs_of(layer: Layer) -> BTreeSet<Capability> {
    let mut needs = BTreeSet::new();
    if layer.rests_on(TruthKind::Steps) {
        needs.extend(STEPS);
    }
    if let Some(walker) = Walker::of(layer) {
        needs.extend(walker.needs);
        if walker.is_explained {
            needs.extend(CAUSES.iter().flat_map(|cause| cause.needs));
            needs.extend(IMPRECISE);
            // A flag limits how often compilers inline a recursion, and so what a true stack may show.
            needs.insert(Capability::Flags);
        }
    }
    needs
}
