//! Layer `asgct-safepoint`: AsyncGetCallTrace of the calling thread in a hook, held against
//! GetStackTrace at the same place.

use super::context::Layers;
use super::path::{Check, nothing_more};
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use crate::walkers::buffer::Walk;
use oracle::mutants::Sight;
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};

/// Checks what the walker answered, an error or `walk`, against `gst`, which layer `gst` has judged.
pub fn check(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    (gst, judged): (&[Frame], Judgement),
    (walked, walk): (Walk, &[Frame]),
) {
    let layer = Layer::AsgctSafepoint;
    if let Err(code) = walked {
        return layers.records.slots.count(layer, Verdict::Error(code.0));
    }
    if judged.is_mismatch() {
        let none = Judgement::plain(Verdict::Unverifiable, Reason::ReferenceMismatch);
        return layers.records.slots.judged(layer, &none);
    }
    let threads = layers.truth.virtual_threads.as_ref();
    let check = Check {
        layer,
        env,
        tid: state.tid(),
        seen: Seen::InHook,
        sight: &Sight::SameInstant {
            reference: gst,
            is_carried: state.carrier_stack().is_some(),
            boundary: &|walk| threads?.boundary(walk),
        },
        reference: &[gst],
        evidence: &nothing_more,
    };
    check.go(layers, walk);
}
