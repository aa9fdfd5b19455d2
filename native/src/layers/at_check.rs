//! Checks on the thread itself, inside a hook: layers `ground`, `gst` and `asgct-safepoint`.

use super::context::Layers;
use super::{asgct_safepoint, ground, gst};
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::{ErrorCode, FrameBuffer, MAX_FRAMES};
use crate::walkers::walker::WalksHere;
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{Layer, Verdict};
use std::cell::RefCell;
use std::io;

/// More frames than a virtual thread's carrier usually has of its own.
const CARRIER_FRAMES: usize = 64;

/// Pushes until the next attempt while no check may be made.
const LATER: u32 = 1 << 10;

/// What a check needs, kept for the next one of its thread.
struct Scratch {
    gst: FrameBuffer,
    asgct: FrameBuffer,
    copy: StackCopy,
    carrier: StackCopy,
}

thread_local! {
    /// Not used by signal handlers, so Rust's own thread-locals do.
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// A check that `push` found due: makes it, and says when the next one is. `layers` is given once
/// the agent is up.
#[cold]
pub fn due(layers: Option<&Layers>, state: &ThreadState, env: Env<'_>) {
    let Some(layers) = layers.filter(|layers| layers.truth.jvm.is_live()) else {
        return state.plan_check(LATER, 0);
    };
    let share = layers.config.check_share;
    if share <= 0.0 {
        return state.plan_check(u32::MAX, u64::MAX);
    }
    let start = clock::since_start();
    now(layers, state, env);
    let end = clock::since_start();
    let pause = pause(share, state, end.saturating_sub(start));
    let pushes = pushes_in(pause, state, start);
    state.plan_check(pushes, end + pause);
    state.own.pushes.set(pushes);
    state.own.last_check.set(end);
}

/// How many nanoseconds the next check waits, so that checks take their share of the thread's
/// time: random, lest it beats with the program's own rhythm.
fn pause(share: f64, state: &ThreadState, cost: u64) -> u64 {
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

/// Lets `look` see GetStackTrace's answer for the calling thread, if it may be asked and answers.
pub fn with_stack<T>(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    look: impl FnOnce(&[Frame]) -> T,
) -> Option<T> {
    with_scratch(|scratch| {
        ask(layers, state, env, scratch).ok()?;
        Some(look(scratch.gst.frames()))
    })?
}

/// Lends the thread's scratch; `None` if it is in use or gone, or if there is no memory.
fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> Option<T> {
    // The hooks of a thread that detaches may run after its thread-locals are gone: no check then.
    let worked = SCRATCH.try_with(|scratch| {
        // A check inside a check would mean that a hook ran inside one: leave it out.
        let mut scratch = scratch.try_borrow_mut().ok()?;
        let made = match &mut *scratch {
            Some(made) => made,
            empty => empty.insert(Scratch::new().ok()?),
        };
        Some(work(made))
    });
    worked.ok()?
}

impl Scratch {
    fn new() -> io::Result<Scratch> {
        Ok(Scratch {
            gst: FrameBuffer::new(MAX_FRAMES)?,
            asgct: FrameBuffer::new(MAX_FRAMES + CARRIER_FRAMES)?,
            copy: StackCopy::new(MAX_FRAMES)?,
            carrier: StackCopy::new(MAX_FRAMES)?,
        })
    }
}

fn check_layers(layers: &Layers, state: &ThreadState, env: Env<'_>, scratch: &mut Scratch) {
    let slots = &layers.records.slots;
    let drop = |cause| {
        slots.drop(Layer::Gst, cause);
        slots.drop(Layer::AsgctSafepoint, cause);
    };
    let unverifiable = || {
        slots.count(Layer::Gst, Verdict::Unverifiable);
        slots.count(Layer::AsgctSafepoint, Verdict::Unverifiable);
    };
    ground::check(layers, state);
    if let Err(cause) = state.stack().copy_to(&mut scratch.copy) {
        return drop(cause);
    }
    let asked = clock::since_start();
    match ask(layers, state, env, scratch) {
        Ok(()) => {}
        Err(NoAnswer::NobodyToAsk) => return,
        Err(NoAnswer::Switching) => return unverifiable(),
        Err(NoAnswer::Failed(code)) => return slots.count(Layer::Gst, Verdict::Error(code.0)),
        Err(NoAnswer::TooDeep) => return drop(Drop::TooDeep),
    }
    let frames = scratch.gst.frames();
    let judged = gst::check(layers, state, env, (frames, asked), &scratch.copy);
    if let Some(asgct) = asgct(layers) {
        let walked = asgct.walk(env, &mut scratch.asgct);
        let answer = (walked, scratch.asgct.frames());
        let carrier = match state.carrier_stack() {
            None => None,
            Some(stack) => match stack.copy_to(&mut scratch.carrier) {
                Ok(()) => Some(&scratch.carrier),
                Err(cause) => return slots.drop(Layer::AsgctSafepoint, cause),
            },
        };
        asgct_safepoint::check(layers, state, env, (frames, judged, asked), answer, carrier);
    }
}

/// Why there is no answer of GetStackTrace.
enum NoAnswer {
    /// The walker is not in use.
    NobodyToAsk,
    /// The thread mounts or unmounts a virtual thread.
    Switching,
    /// The walker failed.
    Failed(ErrorCode),
    /// The stack has more frames than fit.
    TooDeep,
}

fn asgct(layers: &Layers) -> Option<&dyn WalksHere> {
    layers.walkers.of(Layer::AsgctSafepoint)?.here()
}

/// Asks GetStackTrace for the calling thread.
fn ask(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    scratch: &mut Scratch,
) -> Result<(), NoAnswer> {
    let gst = layers.walkers.of(Layer::Gst).and_then(|w| w.here());
    if !may_ask(layers, state, env, asgct(layers), &mut scratch.asgct) {
        return Err(NoAnswer::Switching);
    }
    let gst = gst.ok_or(NoAnswer::NobodyToAsk)?;
    gst.walk(env, &mut scratch.gst).map_err(NoAnswer::Failed)?;
    if scratch.gst.is_full() {
        return Err(NoAnswer::TooDeep);
    }
    let threads = layers.truth.virtual_threads.as_ref();
    match threads.is_some_and(|threads| threads.is_switching(state, scratch.gst.frames())) {
        true => Err(NoAnswer::Switching),
        false => Ok(()),
    }
}

/// Whether GetStackTrace may be asked for the calling thread: not while it mounts or unmounts
/// a virtual thread, which JDK 21 would wait for, for ever. (Its `GetStackTrace` waits until
/// no thread does so, the calling one included.) Where carriers are between two virtual threads only
/// AsyncGetCallTrace tells; other threads are asked whatever AsyncGetCallTrace answers.
fn may_ask(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    asgct: Option<&dyn WalksHere>,
    buffer: &mut FrameBuffer,
) -> bool {
    let (Some(threads), None) = (&layers.truth.virtual_threads, state.carrier_stack()) else {
        return true;
    };
    if !threads.may_carry(state) {
        return true;
    }
    let walked = asgct.is_some_and(|asgct| asgct.walk(env, buffer).is_ok());
    // A full buffer may hide more.
    walked && !buffer.is_full() && !threads.is_mounting(buffer.frames())
}
