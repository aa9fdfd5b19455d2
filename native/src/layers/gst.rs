//! Layer `gst`: GetStackTrace, compared with the trace stack of the calling thread, and with the
//! class files.

use super::context::Layers;
use super::native_top::Top;
use super::path::{Check, nothing_more};
use crate::edges::{Memo, Patience, Thread, odd_edges};
use crate::evidence::{Found, Sampled};
use crate::jvm::jni::Env;
use crate::truth::read_stack::ReadStack;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use oracle::edge::Finding;
use oracle::judge::{
    AlsoClasses, ClassesTruth, NativeTop, Settled, TraceTruth, Truth, judge_edges,
};
use oracle::record::Evidence;
use oracle::trace::{Frame, Methods};
use oracle::{Judgement, Layer, TruthKind, Verdict};
use std::ptr;

/// The layer.
pub const LAYER: Layer = TruthKind::Here.checked_by();

/// Checks `gst`, the answer for the calling thread, against `copy`, its trace stack. What agrees
/// is recorded on the trace stack: from then on the whole stack is known up to here. Returns the
/// judgement. `asked` is when GetStackTrace was asked, in nanoseconds of `clock::since_start`.
pub fn check(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    (gst, asked): (&[Frame], u64),
    copy: &StackCopy,
) -> Judgement {
    let methods = &layers.truth.methods;
    let stack = ReadStack::new(copy, methods);
    let trace = stack.truth();
    let (judge, thread) = (layers.edge_judge(), walked(state));
    let found = judge.and_then(|judge| judge.findings_here(env, thread, gst));
    let memo = Memo::default();
    let find = |walk: &[Frame]| judge?.sure_findings(env, Patience::Hurries, thread, walk);
    let edges = |walk: &[Frame]| match &found {
        found if ptr::eq(walk, gst) => found.clone(),
        _ => memo.of(walk, || find(walk)),
    };
    let by_trace = TraceTruth::new(&trace, methods);
    let settled = Settled::own_answers(&by_trace, |by_trace, gst| {
        methods.settle_here(by_trace.judge(gst), gst, &trace, asked)
    });
    let truth = AlsoClasses {
        truth: &settled,
        edges: &edges,
    };
    let truth = NativeTop {
        truth: &truth,
        is_top: Some(|frame| Top::Hook.is(env, methods, frame)),
    };
    let check = Check {
        layer: LAYER,
        env,
        tid: state.tid(),
        seen: Sampled::Plainly,
        event: None,
        evidence: &nothing_more,
    };
    let honest = check.run(layers, gst, &truth);
    let agrees = matches!(honest.verdict, Verdict::Match | Verdict::Window);
    // Old versions lose their keys when they end.
    if agrees && !methods.is_doubtful(gst, &[]) {
        let own = gst.iter();
        let own = own
            .take_while(|frame| methods.is_hook_call(frame.method))
            .count();
        state.stack().record(&gst[own..]);
    }
    honest
}

/// What tells the stack that GetStackTrace walks on the calling thread from others: that of the virtual
/// thread, if the thread carries one.
pub(super) fn walked(state: &ThreadState) -> Thread {
    match state.carrier_stack() {
        None => (ptr::from_ref(state) as usize, state.tid()),
        Some(_) => (ptr::from_ref(state.stack()) as usize, 0),
    }
}

/// Checks `gst`, the answer for the thread whose kernel id is `tid`, by what class files say of the answer.
pub fn check_elsewhere(
    layers: &Layers,
    env: Env<'_>,
    tid: i32,
    gst: &[Frame],
    edges: Option<&[Finding]>,
) {
    let judgement = judge_edges(edges);
    layers.records.slots.judged(LAYER, &judgement);
    if judgement.is_mismatch() {
        let evidence = || Evidence {
            walker: Some("GetStackTrace".into()),
            edges: edges.map(odd_edges),
            ..Evidence::default()
        };
        let found = Found {
            layer: LAYER,
            judgement,
            tid,
            walk: gst,
            truth: &ClassesTruth(&|_| None),
            seen: Sampled::Plainly,
            edges: None,
        };
        layers.reporter.report(env, found, evidence);
    }
}
