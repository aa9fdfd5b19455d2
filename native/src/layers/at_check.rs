//! Checks on the thread itself, inside a hook: layers `ground` and `gst`, and one of the layers that compare
//! another walker with GetStackTrace.

use super::context::Layers;
use super::with_here::{self, Place, Reference, Trust};
use super::{ground, gst, gst_slice};
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::truth::thread_state::ThreadState;
use crate::walkers::buffer::Room;
use crate::walkers::here::{NoAnswer, Scratch, with_scratch};
use oracle::Verdict;
use oracle::tally::Drop;
use oracle::trace::{Frame, HookId, Methods, Presence};
use std::iter;

/// One check in so many gives the walkers room for exactly the frames that the stack has. A walker that
/// loses a frame at the end of its buffer shows only there.
const EXACT_ONE_IN: u64 = 4;

/// Pushes until the next attempt while no check may be made.
const LATER: u32 = 1 << 10;

/// A check that `push` found due: makes it, and says when the next one is. `layers` is given once
/// the agent is up.
#[cold]
pub fn due(layers: Option<&Layers>, state: &ThreadState, env: Env<'_>) {
    let Some(layers) = layers.filter(|layers| layers.truth.jvm.is_live()) else {
        return state.plan_check(LATER, 0);
    };
    let share = layers.config.sampling.check_share;
    if share <= 0.0 {
        return state.plan_check(u32::MAX, u64::MAX);
    }
    let start = clock::since_start();
    // On a busy machine a thread may lose its processor in the middle of a check. By the clock on the wall that check would be a
    // thousand times as expensive, and the thread would make hardly any other.
    let before = clock::thread_cpu_time();
    now(layers, state, env);
    let cost = clock::thread_cpu_time().saturating_sub(before);
    let end = clock::since_start();
    let pause = pause(share, state, cost.as_nanos() as u64);
    let pushes = pushes_in(pause, state, start);
    state.plan_check(pushes, end + pause);
    state.own.pushes.set(pushes);
    state.own.last_check.set(end);
}

/// How many nanoseconds the next check waits after one that took `cost` of them in CPU time, so that checks take
/// their share of the thread's time. Random, because checks at a fixed rate could always fall on the same place of a loop.
pub(super) fn pause(share: f64, state: &ThreadState, cost: u64) -> u64 {
    let random = 0.5 + (state.own.random() >> 11) as f64 / (1u64 << 53) as f64;
    (cost as f64 * (1.0 - share) / share * random) as u64
}

/// How many pushes that is, at the rate of those up to `start`, since the last check.
fn pushes_in(pause: u64, state: &ThreadState, start: u64) -> u32 {
    const MOST: f64 = (1 << 22) as f64;
    let since_last = match state.own.last_check.get() {
        0 => 1000,
        last => start.saturating_sub(last).max(1),
    };
    let nanos_per_push = since_last as f64 / f64::from(state.own.pushes.get().max(1));
    (pause as f64 / nanos_per_push).clamp(1.0, MOST) as u32
}

/// Makes a check of the calling thread.
pub fn now(layers: &Layers, state: &ThreadState, env: Env<'_>) {
    with_scratch(|scratch| check_layers(layers, state, env, scratch));
}

/// Settles the doubt of the calling thread's trace stack by GetStackTrace, if that can be done. Before a push;
/// `layers` is given once the agent is up.
///
/// HotSpot ends compiled frames without looking at their handlers where the thread's stack is
/// nearly full (`OptoRuntime::handle_exception_C`, `exception_handler_for_pc` of C1). So a
/// StackOverflowError ends frames without a hook. Mostly the hook at the handler that catches the
/// error sets the trace stack right. Where code without hooks caught the error, the next push asks
/// GetStackTrace. The answer is taken only if the active frames are on the trace stack in their
/// order. One look is enough: the next push finds no doubt, or one that cannot be settled.
#[cold]
pub fn settle_before_push(layers: Option<&Layers>, state: &ThreadState, env: Env<'_>) {
    let layers = layers.filter(|layers| layers.truth.jvm.is_live());
    let (Some(layers), true) = (layers, state.stack().may_be_settled()) else {
        return;
    };
    let methods = &layers.truth.methods;
    let active = with_stack(layers, state, env, |frames| active(frames, methods));
    if let Some(active) = active.flatten() {
        let may_lack = |hook| methods.is_constructor(hook);
        state.stack().settle(&active, may_lack);
    }
}

/// The hooks of the frames that have an entry, bottom first; `None` if that is not certain. The
/// newest hooked frame is about to push.
fn active(frames: &[Frame], methods: &impl Methods) -> Option<Vec<HookId>> {
    let hooked = frames
        .iter()
        .filter_map(|frame| methods.hook(frame.method, frame.location));
    let mut active = Vec::new();
    for (hook, presence) in hooked.skip(1) {
        match presence {
            Presence::Absent => {}
            Presence::Present | Presence::Catching => active.push(hook),
            Presence::Pushing | Presence::Popping | Presence::Unwinding | Presence::Unknown => {
                return None;
            }
        }
    }
    active.reverse();
    Some(active)
}

/// Lets `look` see GetStackTrace's answer for the calling thread, if it may be asked and answers.
fn with_stack<T>(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    look: impl FnOnce(&[Frame]) -> T,
) -> Option<T> {
    with_scratch(|scratch| {
        let (walkers, truth) = (layers.walkers, layers.truth);
        scratch.ask_gst(walkers, truth, state, env).ok()?;
        Some(look(scratch.gst.frames()))
    })?
}

fn check_layers(layers: &Layers, state: &ThreadState, env: Env<'_>, scratch: &mut Scratch) {
    let slots = &layers.records.slots;
    let layer = layers.in_checks.next_layer();
    let both = || iter::once(gst::LAYER).chain(layer);
    let drop = |cause| both().for_each(|layer| slots.drop(layer, cause));
    let unverifiable = || both().for_each(|layer| slots.count(layer, Verdict::Unverifiable));
    ground::check(layers, state);
    if let Err(cause) = state.stack().copy_to(&mut scratch.copy) {
        return drop(cause);
    }
    let asked = match scratch.ask_gst_settled(layers.walkers, layers.truth, state, env) {
        Ok(asked) => asked,
        Err(NoAnswer::NobodyToAsk) => return,
        Err(NoAnswer::Switching | NoAnswer::NoIds) => return unverifiable(),
        Err(NoAnswer::Failed(code)) => return slots.count(gst::LAYER, Verdict::Error(code.0)),
        Err(NoAnswer::TooDeep) => return drop(Drop::TooDeep),
    };
    let room = room(layers, state, scratch.gst.frames().len());
    if let Room::Exactly(_) = room
        && let Some(Err(code)) = scratch.ask_gst_in(layers.walkers, env, room)
    {
        return slots.count(gst::LAYER, Verdict::Error(code.0));
    }
    let judged = gst::check(
        layers,
        state,
        env,
        (scratch.gst.frames(), asked),
        &scratch.copy,
    );
    if Trust::of(&judged) == Trust::Confirmed {
        let frames = scratch.gst.frames();
        let (jvm, methods) = (layers.truth.jvm, &layers.truth.methods);
        layers
            .self_test
            .look(layers.records, jvm, methods, env, frames);
    }
    gst_slice::now_and_then(layers, state, env, scratch);
    if let Some(layer) = layer
        && let Some(walked) = scratch.ask(layers.walkers, layer, env, room)
    {
        let carrier = match with_here::carrier(state, &mut scratch.carrier) {
            Ok(carrier) => carrier,
            Err(cause) => return slots.drop(layer, cause),
        };
        let reference = Reference {
            gst: scratch.gst.frames(),
            trust: Trust::of(&judged),
            asked,
            carrier,
            place: Place::Hook,
        };
        let answer = (walked, scratch.walk.frames());
        with_here::check(layers, layer, state, env, &reference, answer);
    }
}

/// The room for the walkers of this check, where GetStackTrace has found so many `frames`. Ample where
/// a walker may add the frames of a virtual thread's carrier.
fn room(layers: &Layers, state: &ThreadState, frames: usize) -> Room {
    let virtual_threads = layers.truth.virtual_threads.as_ref();
    let has_carrier = state.carrier_stack().is_some()
        || virtual_threads.is_some_and(|threads| threads.may_carry(state));
    match state.own.random() % EXACT_ONE_IN {
        0 if !has_carrier => Room::Exactly(frames),
        _ => Room::Ample,
    }
}
