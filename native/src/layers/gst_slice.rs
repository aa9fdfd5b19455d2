//! Parts of the calling thread's stack: GetStackTrace with a start depth and a number of frames, compared with its answer
//! for the whole stack at the same place. These are checks of layer `gst`, too.

use super::context::Layers;
use super::gst::LAYER;
use crate::evidence::{Found, Sampled};
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use crate::walkers::gst::ILLEGAL_ARGUMENT;
use crate::walkers::here::Scratch;
use oracle::judge::{Slice, SliceTruth};
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Judgement, Reason, Verdict};

/// One whole stack in so many is asked for in part, too.
const ONE_IN: u64 = 8;

/// Now and then asks for a random part of the stack that GetStackTrace has just given as a whole, `scratch.gst`, and
/// checks the answer. Overwrites `scratch.walk`.
pub fn now_and_then(layers: &Layers, state: &ThreadState, env: Env<'_>, scratch: &mut Scratch) {
    if !state.own.random().is_multiple_of(ONE_IN) {
        return;
    }
    let stack = scratch.gst.frames();
    let mut slice = Slice::random(stack.len(), state.own.random());
    if may_have_frozen_frames(layers, state, env, stack) {
        slice.start_depth = slice.start_depth.abs();
    }
    check(layers, state, env, slice, scratch);
}

/// Whether frames of the calling thread's `stack` may lie in a stack chunk, as those of virtual threads do. Such a stack must
/// not be asked for from the bottom: HotSpot crashes.
///
/// For a negative start depth `JvmtiEnvBase::get_stack_trace` (jvmtiEnvBase.cpp) walks down the whole stack, and then once more
/// from a frame that it has kept:
///     jvf_prev_prev = jvf_prev;  jvf_prev = jvf_cursor;  ...  jvf_cursor = jvf_cursor->java_sender();
///     jvf = jvf_prev_prev;  for (; j < 0; j++) { jvf = jvf->java_sender(); }
/// The kept frame has a `RegisterMap` of its own, but all copies of the map share one handle for the stack chunk, and the first
/// walk has changed to which chunk it leads (`RegisterMap::set_stack_chunk`: `_chunk.replace(chunk); // reuse handle`). So the
/// second walk reads another chunk, or takes offsets for addresses. JDK 25.0.3: SIGSEGV in
/// `frame::sender_for_interpreter_frame`.
fn may_have_frozen_frames(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    stack: &[Frame],
) -> bool {
    match &layers.truth.virtual_threads {
        // A program may enter continuations without virtual threads.
        Some(threads) => {
            state.carrier_stack().is_some()
                || threads.may_carry(state)
                || threads.boundary(stack).is_some()
        }
        // The VM may have virtual threads, and not the events that tell of them.
        None => env.has_virtual_threads(),
    }
}

fn check(layers: &Layers, state: &ThreadState, env: Env<'_>, slice: Slice, scratch: &mut Scratch) {
    let slots = &layers.records.slots;
    let given = match scratch.ask_gst_slice(layers.walkers, env, slice) {
        None => return,
        Some(Ok(())) => Some(scratch.walk.frames().to_vec()),
        Some(Err(ILLEGAL_ARGUMENT)) => None,
        Some(Err(code)) => return slots.count(LAYER, Verdict::Error(code.0)),
    };
    let part = slice.of(scratch.gst.frames());
    let honest = SliceTruth { part }.judge_part(given.as_deref());
    // Where a class is redefined between the two answers, its methods have other keys in the second one. Keys do not change
    // back: if the whole stack has the same keys before and after, they were the same in between.
    if honest.is_mismatch() && !has_same_keys(layers, env, scratch) {
        let doubtful = Judgement::plain(Verdict::Unverifiable, Reason::MethodGone);
        return slots.judged(LAYER, &doubtful);
    }
    let stack = scratch.gst.frames();
    let fault = match honest.verdict {
        Verdict::Match => layers.injector.inject_slice(LAYER, slice, stack),
        _ => None,
    };
    let given = fault.unwrap_or(given.as_deref());
    let part = slice.of(stack);
    let truth = SliceTruth { part };
    let judgement = truth.judge_part(given);
    slots.judged(LAYER, &judgement);
    if judgement.is_mismatch() && layers.config.layers.contains(&LAYER) {
        let found = Found {
            layer: LAYER,
            judgement,
            tid: state.tid(),
            walk: given.unwrap_or_default(),
            truth: &truth,
            seen: Sampled::Plainly,
            edges: None,
        };
        let evidence = || Evidence {
            part: Some(format!("{slice}, of a stack of {} frames", stack.len())),
            ..Evidence::default()
        };
        layers.reporter.report(env, found, evidence);
    }
}

/// Whether GetStackTrace still gives the whole stack as before.
fn has_same_keys(layers: &Layers, env: Env<'_>, scratch: &mut Scratch) -> bool {
    let asked = scratch.ask_gst_again(layers.walkers, env);
    asked == Some(Ok(())) && scratch.walk.frames() == scratch.gst.frames()
}
