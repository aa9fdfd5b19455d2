//! Layers that rest on GetStackTrace at the thread's next safepoint, such as `asgct-gst`: a walker in a signal
//! handler.

use super::context::Layers;
use super::path::Check;
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use oracle::judge::{NextTruth, Settled, Truth};
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Layer, Verdict};

/// Checks in `layer` `walk`, the answer in `sample` for the thread whose kernel id is `tid`, against `truth`, if
/// GetStackTrace has answered.
pub fn check(
    layers: &Layers,
    layer: Layer,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    truth: Option<&NextTruth<'_>>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let Some(truth) = truth else {
        return layers.records.slots.count(layer, Verdict::Unverifiable);
    };
    let methods = &layers.truth.methods;
    let truth = Settled::own_answers(truth, |truth, walk| {
        // Only the lowest frames decide whether a walk is cut.
        let (own, other) = (walk.last().copied(), truth.later.stack.last().copied());
        methods.settle(truth.judge(walk), own.as_slice(), &[other.as_slice()])
    });
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::InSignal(sample),
        evidence,
    };
    check.run(layers, walk, &truth);
}

/// The stack of a thread that carries a virtual thread, as AsyncGetCallTrace gives it: the frames of the
/// `virtual` thread, then the frame of `walk` at which it passes to the carrier, then the `carrier`'s.
pub fn with_carrier(
    walk: &[Frame],
    boundary: usize,
    (of_virtual, of_carrier): (&[Frame], &[Frame]),
) -> Vec<Frame> {
    [of_virtual, &walk[boundary..=boundary], of_carrier].concat()
}
