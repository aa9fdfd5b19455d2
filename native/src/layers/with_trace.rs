//! Layers that rest on the trace stack, such as `asgct-async`: a walker in a signal handler, at any instant,
//! compared with the trace stack at that instant, and with the class files.

use super::context::Layers;
use super::native_top::Top;
use super::path::Check;
use crate::evidence::{self, Sampled};
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use crate::truth::methods::old_frames::Against;
use crate::truth::read_stack::ReadStack;
use hotspot::debug_info::judge_between;
use oracle::edge::Finding;
use oracle::judge::{AlsoClasses, MountedTruth, NativeTop, Settled, TraceTruth, Truth};
use oracle::record::Evidence;
use oracle::trace::{Frame, Methods};
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
    let trace = stack.truth();
    let below = sample
        .carried
        .then(|| ReadStack::new(&sample.carrier, methods));
    let carrier = below.as_ref().map(ReadStack::truth);
    let carrier = carrier.as_ref();
    let threads = known.virtual_threads.as_ref();
    let boundary = |walk: &[Frame]| threads?.boundary(walk);
    let mounted = MountedTruth {
        trace: &trace,
        carrier,
        methods,
        boundary: &boundary,
    };
    let of_sample = OfSample { known, sample };
    let settled = Settled::always(&mounted, |mounted, walk| {
        let against = Against {
            truth: &trace,
            carrier,
            boundary: boundary(walk),
            asked: sample.asked,
        };
        let found = of_sample.judge(mounted, walk);
        methods.settle_walk(found, walk, against, |methods, walk| {
            let mounted = MountedTruth {
                trace: &trace,
                carrier,
                methods,
                boundary: &boundary,
            };
            of_sample.judge(&mounted, walk)
        })
    });
    let with_classes = AlsoClasses {
        truth: &settled,
        edges,
    };
    let top = Top::of_walk(layers, layer, sample);
    let truth = NativeTop {
        truth: &with_classes,
        is_top: top.as_ref().map(|top| |frame| top.is(env, methods, frame)),
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Sampled::InSignal(sample),
        event: None,
        evidence,
    };
    check.run(layers, walk, &truth);
}

/// What a sample shows of the code that ran, beside the trace stacks.
struct OfSample<'a> {
    known: &'a Known,
    sample: &'a Sample,
}

impl OfSample<'_> {
    /// Judges `walk` by the trace stacks; a mismatch once more, by the debug info records on both sides of the
    /// program counter.
    fn judge<M: Methods>(&self, truth: &MountedTruth<'_, M>, walk: &[Frame]) -> Judgement {
        if let Some(judgement) = self.judge_inlined(truth, walk) {
            return judgement;
        }
        let judgement = truth.judge(walk);
        let between_records = || {
            let whole = truth.carrier.is_none().then_some(truth.trace);
            let around = evidence::records_around(self.known.jvm, self.sample)?;
            let key_of = |hook| self.known.methods.key_of(hook);
            let judge = |walk: &[Frame]| truth.judge(walk);
            let methods = truth.methods;
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
    fn judge_inlined<M: Methods>(
        &self,
        truth: &MountedTruth<'_, M>,
        walk: &[Frame],
    ) -> Option<Judgement> {
        let threads = self.known.virtual_threads.as_ref()?;
        let carrier = truth
            .carrier
            .filter(|_| threads.is_whole_but_inlined(walk))?;
        let at = (truth.boundary)(walk)?;
        let of = |trace| TraceTruth::new(trace, truth.methods);
        let of_carrier = of(carrier).judge(&walk[at + 1..]);
        let agrees = of(truth.trace).has_all_of(&walk[..at]);
        (agrees && !of_carrier.is_mismatch()).then_some(Judgement::FLAGGED)
    }
}
