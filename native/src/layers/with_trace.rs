//! Layers that rest on the trace stack, such as `asgct-async`: a walker in a signal handler, at any instant,
//! compared with the trace stack at that instant, and with the class files.

use super::context::Layers;
use super::path::Check;
use crate::evidence::{Seen, compiled};
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use crate::truth::methods::old_frames::Against;
use crate::truth::read_stack::ReadStack;
use hotspot::debug_info::judge_between;
use oracle::edge::Finding;
use oracle::judge::{agrees_outside, judge_truth};
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::trace::{Frame, Methods, Truth};
use oracle::{Judgement, Layer};

/// Checks in `layer` `walk`, the answer in `sample` for the thread whose kernel id is `tid`. `edges` says what the
/// class files allow.
pub fn check(
    layers: &Layers,
    layer: Layer,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let known = layers.truth;
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
    let carrier = carrier.as_ref();
    let threads = known.virtual_threads.as_ref();
    let boundary = |walk: &[Frame]| threads?.boundary(walk);
    let by_trace = ByTrace {
        known,
        sample,
        truth: &truth,
        carrier,
        boundary: &boundary,
    };
    let sight_of_trace = by_trace.sight(methods);
    let sight = Sight::AlsoClasses(&sight_of_trace, edges);
    let judge = |walk: &[Frame]| {
        let against = Against {
            truth: &truth,
            carrier,
            boundary: boundary(walk),
            asked: sample.asked,
        };
        let found = by_trace.judge(methods, walk);
        let found = methods.settle_walk(found, walk, against, |methods, walk| {
            by_trace.judge(methods, walk)
        });
        sight_of_trace.judge_with_classes(found, walk, edges)
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::InSignal(sample),
        sight: &sight,
        reference: &[
            truth.checked,
            carrier.map_or(&[][..], |carrier| carrier.checked),
        ],
        evidence,
    };
    check.settled(layers, walk, judge(walk), judge);
}

/// What a sample's walk is held against, without the class files.
struct ByTrace<'a> {
    known: &'a Known,
    sample: &'a Sample,
    truth: &'a Truth<'a>,
    carrier: Option<&'a Truth<'a>>,
    boundary: &'a dyn Fn(&[Frame]) -> Option<usize>,
}

impl ByTrace<'_> {
    fn sight<'s, M: Methods>(&'s self, methods: &'s M) -> Sight<'s, M> {
        Sight::Truths {
            truth: self.truth,
            carrier: self.carrier,
            methods,
            boundary: self.boundary,
        }
    }

    /// Judges `walk` by the trace stack; a mismatch once more, by the debug info records on both sides of the
    /// program counter.
    fn judge<M: Methods>(&self, methods: &M, walk: &[Frame]) -> Judgement {
        let sight = self.sight(methods);
        if let Some(judgement) = self.judge_inlined(methods, walk) {
            return judgement;
        }
        let judgement = sight.judge(walk);
        let between_records = || {
            let whole = self.carrier.is_none().then_some(self.truth);
            let around = compiled::records_around(self.known.jvm, self.sample)?;
            let key_of = |hook| self.known.methods.key_of(hook);
            let judge = |walk: &[Frame]| sight.judge(walk);
            judge_between(&around, methods, key_of, judgement, walk, whole, judge)
        };
        if judgement.is_mismatch() {
            between_records().unwrap_or(judgement)
        } else {
            judgement
        }
    }

    /// The judgement of a walk with all physical frames of a virtual thread, none of which may be hooked, that says
    /// that inlined frames may be missing.
    fn judge_inlined<M: Methods>(&self, methods: &M, walk: &[Frame]) -> Option<Judgement> {
        let threads = self.known.virtual_threads.as_ref()?;
        let carrier = self
            .carrier
            .filter(|_| threads.is_whole_but_inlined(walk))?;
        let at = (self.boundary)(walk)?;
        let of_carrier = judge_truth(&walk[at + 1..], carrier, methods);
        let agrees = agrees_outside(&walk[..at], self.truth, methods);
        (agrees && !of_carrier.is_mismatch()).then_some(Judgement::FLAGGED)
    }
}
