//! Layer `asgct-safepoint`: AsyncGetCallTrace of the calling thread in a hook, compared with
//! GetStackTrace at the same place.

use super::context::Layers;
use super::path::{Check, nothing_more};
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::truth::read_stack::ReadStack;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::Walk;
use oracle::mutants::Sight;
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};

/// Checks what the walker answered, an error or `walk`, against `gst`, which layer `gst` has judged
/// and which was asked at `asked`, in nanoseconds of `clock::since_start`.
/// `carrier` is the trace stack of the thread's carrier, if the thread is a virtual one.
pub fn check(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    (gst, judged, asked): (&[Frame], Judgement, u64),
    (walked, walk): (Walk, &[Frame]),
    carrier: Option<&StackCopy>,
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
    let methods = &layers.truth.methods;
    let carrier = carrier.map(|copy| ReadStack::new(copy, methods));
    let carrier = carrier.as_ref().map(ReadStack::truth);
    let check = Check {
        layer,
        env,
        tid: state.tid(),
        seen: Seen::InHook,
        sight: &Sight::SameInstant {
            reference: gst,
            carrier: carrier.as_ref(),
            methods,
            boundary: &|walk| threads?.boundary(walk),
        },
        reference: &[gst],
        evidence: &nothing_more,
    };
    // If the key stands for the same version still, its version at that time is certain.
    let changes = || methods.have_changed_since(walk, asked);
    if methods.has_one_version_each() || judged.verdict == Verdict::Unverifiable || changes() {
        check.go(layers, walk);
        return;
    }
    let judge = |walk: &[Frame]| check.sight.judge(walk);
    let found = judge(walk);
    let known = found
        .is_mismatch()
        .then(|| methods.without_old_versions(walk, gst));
    let found = match known.flatten() {
        Some(known) if !judge(&known).is_mismatch() => {
            Judgement::plain(Verdict::Unverifiable, Reason::MethodGone)
        }
        _ => found,
    };
    check.settled(layers, walk, found, judge);
}
