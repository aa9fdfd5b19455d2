//! Layer `asgct-async`: AsyncGetCallTrace in a signal handler, at any instant, compared with the
//! trace stack at that instant, and with the class files.

use super::context::Layers;
use super::path::Check;
use crate::evidence::{Seen, compiled};
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::read_stack::ReadStack;
use hotspot::debug_info::judge_between;
use oracle::Layer;
use oracle::edge::Finding;
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::trace::Frame;

/// Checks `walk`, the answer in `sample` for the thread whose kernel id is `tid`. `edges` says what the
/// class files allow.
pub fn check(
    layers: &Layers,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let (known, layer) = (layers.truth, Layer::AsgctAsync);
    if let Err(cause) = sample.copied {
        return layers.records.slots.drop(layer, cause);
    }
    let methods = &known.methods;
    let stack = ReadStack::new(&sample.stack, methods);
    let truth = stack.truth();
    let below = sample
        .carried
        .then(|| ReadStack::new(&sample.carrier, methods));
    let carrier = below.as_ref().map(ReadStack::truth);
    let threads = known.virtual_threads.as_ref();
    let by_trace = Sight::Truths {
        truth: &truth,
        carrier: carrier.as_ref(),
        methods,
        boundary: &|walk| threads?.boundary(walk),
    };
    let checked = [
        truth.checked,
        carrier.as_ref().map_or(&[][..], |carrier| carrier.checked),
    ];
    let sight = Sight::AlsoClasses(&by_trace, edges);
    let by_sight = |walk: &[Frame]| by_trace.judge(walk);
    let judge = |walk: &[Frame]| {
        let judgement = by_sight(walk);
        let between_records = || {
            let whole = carrier.is_none().then_some(&truth);
            let around = compiled::records_around(known.jvm, sample)?;
            let key_of = |hook| methods.key_of(hook);
            judge_between(&around, methods, key_of, judgement, walk, whole, by_sight)
        };
        let judgement = match judgement.is_mismatch() {
            true => between_records().unwrap_or(judgement),
            false => judgement,
        };
        let judgement = methods.settle(judgement, walk, &checked);
        by_trace.judge_with_classes(judgement, walk, edges)
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::InSignal(sample),
        sight: &sight,
        reference: &checked,
        evidence,
    };
    check.go_on(layers, walk, judge(walk), judge);
}
