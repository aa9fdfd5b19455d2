//! Layer `asgct-gst`: AsyncGetCallTrace in a signal handler, compared with GetStackTrace at the
//! thread's next safepoint.

use super::context::Layers;
use super::path::Check;
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::methods::registry::Registry;
use oracle::edge::Finding;
use oracle::judge::Edged;
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Layer, Verdict};

/// Checks `walk`, the answer in `sample` for the thread whose kernel id is `tid`, against `later`,
/// if there is such an answer. `edges` says what the class files allow.
pub fn check(
    layers: &Layers,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    later: Option<Edged<'_>>,
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let layer = Layer::AsgctGst;
    let Some(later) = later else {
        return layers.records.slots.count(layer, Verdict::Unverifiable);
    };
    let gst = later.stack;
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::InSignal(sample),
        sight: &Sight::<Registry>::Later(later, edges),
        reference: &[gst],
        evidence,
    };
    check.go(layers, walk);
}
