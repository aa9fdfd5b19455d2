//! Checks: layers `ground`, `gst` and `asgct-safepoint`, on the thread itself inside a hook.

use crate::agent::Agent;
use crate::evidence::{self, Found, Walker};
use crate::injection::{Lie, Said};
use crate::jvm::asgct::{Asgct, CallFrame};
use crate::jvm::jvmti::FrameInfo;
use crate::recorder::{self, Judged};
use crate::truth::methods::Registry;
use crate::truth::threads::ThreadState;
use crate::truth::trace_stack::StackCopy;
use jni_sys::JNIEnv;
use oracle::judge::judge_truth;
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::tally::Drop;
use oracle::trace::{Frame, Location, MethodKey, Methods};
use oracle::{Judgement, Layer, Verdict};
use std::cell::RefCell;
use std::ptr;
use std::sync::OnceLock;
use std::time::Instant;

/// Deeper stacks are not compared but counted as dropped.
pub const MAX_FRAMES: usize = 1 << 14;

/// More frames than a virtual thread's carrier usually has of its own.
const CARRIER_FRAMES: usize = 64;

/// Pushes until the next attempt while no check may be made.
const LATER: u32 = 1 << 10;

/// What a check needs, kept for the next one of its thread.
struct Scratch {
    gst: Vec<FrameInfo>,
    asgct: Vec<CallFrame>,
    copy: StackCopy,
}

thread_local! {
    /// Not used by signal handlers, so Rust's own thread-locals do.
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// A check that `push` found due: makes it, and says when the next one is.
#[cold]
pub fn due(state: &ThreadState, env: *mut JNIEnv) {
    let Some(agent) = Agent::get().filter(|agent| agent.is_live()) else {
        return state.plan_check(LATER, 0);
    };
    let share = agent.config.check_share;
    if share <= 0.0 {
        return state.plan_check(u32::MAX, u64::MAX);
    }
    let start = nanos();
    now(agent, state, env);
    let end = nanos();
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

/// Nanoseconds since the first call, at least 1.
pub fn nanos() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Makes a check of the calling thread.
pub fn now(agent: &Agent, state: &ThreadState, env: *mut JNIEnv) {
    SCRATCH.with(|scratch| {
        // A check inside a check would mean that a hook ran inside one: leave it out.
        let Ok(mut scratch) = scratch.try_borrow_mut() else {
            return;
        };
        let made = match &mut *scratch {
            Some(made) => made,
            empty => match new_scratch() {
                Some(new) => empty.insert(new),
                None => return,
            },
        };
        check_layers(agent, state, env, made);
    });
}

fn new_scratch() -> Option<Scratch> {
    let gst = FrameInfo {
        method: ptr::null_mut(),
        location: 0,
    };
    let asgct = CallFrame {
        lineno: 0,
        method_id: ptr::null_mut(),
    };
    Some(Scratch {
        gst: vec![gst; 256],
        asgct: vec![asgct; MAX_FRAMES],
        copy: StackCopy::new(MAX_FRAMES).ok()?,
    })
}

fn check_layers(agent: &Agent, state: &ThreadState, env: *mut JNIEnv, scratch: &mut Scratch) {
    let consistent = state.stack().is_consistent();
    agent.slots.count(
        Layer::Ground,
        if consistent {
            Verdict::Match
        } else {
            Verdict::Wrong
        },
    );
    if state.stack().copy_to(&mut scratch.copy).is_none() {
        let cause = if state.stack().is_whole() {
            Drop::TooDeep
        } else {
            Drop::TraceStackFull
        };
        agent.slots.drop(Layer::Gst, cause);
        agent.slots.drop(Layer::AsgctSafepoint, cause);
        return;
    }
    let unverifiable = || {
        agent.slots.count(Layer::Gst, Verdict::Unverifiable);
        agent
            .slots
            .count(Layer::AsgctSafepoint, Verdict::Unverifiable);
    };
    if !may_ask(agent, state, env, &mut scratch.asgct) {
        return unverifiable();
    }
    let gst = match gst_of_self(agent, &mut scratch.gst) {
        Ok(Some(frames)) => frames,
        Ok(None) => {
            agent.slots.drop(Layer::Gst, Drop::TooDeep);
            agent.slots.drop(Layer::AsgctSafepoint, Drop::TooDeep);
            return;
        }
        Err(code) => {
            agent.slots.count(Layer::Gst, Verdict::Error(-code));
            return;
        }
    };
    let threads = agent.virtual_threads.as_ref();
    if threads.is_some_and(|threads| threads.is_switching(state, &gst)) {
        return unverifiable();
    }
    let verdict = check_gst(agent, state, env, &gst, &scratch.copy);
    if matches!(verdict, Verdict::Match | Verdict::Window) {
        let own = gst
            .iter()
            .take_while(|frame| agent.methods.is_hook_call(frame.method))
            .count();
        state.stack().record(&gst[own..]);
    }
    check_asgct(agent, state, env, &gst, &mut scratch.asgct);
}

/// GetStackTrace of the calling thread, with a buffer that grows; `None` beyond the limit.
fn gst_of_self(agent: &Agent, buffer: &mut Vec<FrameInfo>) -> Result<Option<Vec<Frame>>, i32> {
    loop {
        let count = agent.jvmti.stack_trace(ptr::null_mut(), buffer)?;
        if count < buffer.len() {
            return Ok(Some(buffer[..count].iter().map(frame_of).collect()));
        }
        if buffer.len() >= MAX_FRAMES {
            return Ok(None);
        }
        buffer.resize(MAX_FRAMES.min(4 * buffer.len()), buffer[0]);
    }
}

/// A frame of GetStackTrace as the judges compare it.
pub fn frame_of(info: &FrameInfo) -> Frame {
    Frame {
        method: MethodKey(info.method as usize),
        location: Location::from_jvmti(info.location),
    }
}

fn check_gst(
    agent: &Agent,
    state: &ThreadState,
    env: *mut JNIEnv,
    gst: &[Frame],
    copy: &StackCopy,
) -> Verdict {
    let hooks: Vec<_> = copy.hooks().collect();
    let methods = &agent.methods;
    let leaving = copy.leaving(|called, hook| methods.is_left_by(called, hook));
    let truth = copy.truth(&hooks, &leaving);
    let honest = judge_truth(gst, &truth, methods);
    let honest = methods.settle(honest, gst, &[truth.checked]);
    let sight = Sight::Truth(&truth, methods);
    record(agent, env, Layer::Gst, gst, honest, &sight);
    let lie = lie(agent, state, Layer::Gst, honest, gst, env, &sight);
    let (gst, judgement) = lie
        .as_ref()
        .map_or((gst, honest), |lie| (&lie.walk, lie.judgement));
    agent.slots.count(Layer::Gst, judgement.verdict);
    if judgement.is_mismatch() && evidence::wanted(agent, Layer::Gst, judgement.verdict) {
        let truth = evidence::show_truth(agent, env, &truth);
        report(agent, state, env, Layer::Gst, judgement, gst, truth);
    }
    honest.verdict
}

/// AsyncGetCallTrace of the calling thread.
fn walk_self(asgct: Asgct, env: *mut JNIEnv, buffer: &mut [CallFrame]) -> i32 {
    // SAFETY: getcontext fills the context in; `env` and the buffer are this thread's.
    unsafe {
        let mut context: libc::ucontext_t = std::mem::zeroed();
        libc::getcontext(&mut context);
        let context = ptr::from_mut(&mut context).cast();
        asgct.walk(env, buffer.as_mut_ptr(), buffer.len() as i32, context)
    }
}

/// Whether GetStackTrace may be asked for the calling thread: not while it mounts or unmounts
/// a virtual thread, which JDK 21 would wait for, for ever. (Its `GetStackTrace` waits until
/// no thread does so, the calling one included.)
fn may_ask(agent: &Agent, state: &ThreadState, env: *mut JNIEnv, buffer: &mut [CallFrame]) -> bool {
    let (Some(threads), None) = (&agent.virtual_threads, state.carrier_stack()) else {
        return true;
    };
    let count = agent.asgct.map_or(0, |asgct| walk_self(asgct, env, buffer));
    let whole = usize::try_from(count).ok().and_then(|n| buffer.get(..n));
    // A full buffer may hide more.
    whole.is_some_and(|frames| {
        (1..buffer.len()).contains(&frames.len()) && !threads.is_mounting(frames)
    })
}

fn check_asgct(
    agent: &Agent,
    state: &ThreadState,
    env: *mut JNIEnv,
    gst: &[Frame],
    buffer: &mut Vec<CallFrame>,
) {
    let Some(asgct) = agent.asgct else { return };
    let spare = CallFrame {
        lineno: 0,
        method_id: ptr::null_mut(),
    };
    buffer.resize(buffer.len().max(gst.len() + CARRIER_FRAMES), spare);
    let count = walk_self(asgct, env, buffer);
    let Some(frames) = usize::try_from(count)
        .ok()
        .filter(|&n| n > 0)
        .and_then(|n| buffer.get(..n))
    else {
        agent
            .slots
            .count(Layer::AsgctSafepoint, Verdict::Error(count));
        return;
    };
    let walk: Vec<Frame> = frames.iter().map(|&frame| frame.into()).collect();
    let threads = agent.virtual_threads.as_ref();
    let sight = Sight::SameInstant {
        reference: gst,
        is_carried: state.carrier_stack().is_some(),
        boundary: &|walk| threads?.boundary(walk),
    };
    let honest = agent.methods.settle(sight.judge(&walk), &walk, &[gst]);
    record(agent, env, Layer::AsgctSafepoint, &walk, honest, &sight);
    let lie = lie(
        agent,
        state,
        Layer::AsgctSafepoint,
        honest,
        &walk,
        env,
        &sight,
    );
    let (walk, judgement) = lie.map_or((walk, honest), |lie| (lie.walk, lie.judgement));
    agent.slots.count(Layer::AsgctSafepoint, judgement.verdict);
    if judgement.is_mismatch() && evidence::wanted(agent, Layer::AsgctSafepoint, judgement.verdict)
    {
        let truth = evidence::show(agent, env, gst);
        report(
            agent,
            state,
            env,
            Layer::AsgctSafepoint,
            judgement,
            &walk,
            truth,
        );
    }
}

fn walker_of(layer: Layer) -> Walker<'static> {
    match layer {
        Layer::Gst => Walker::Gst,
        _ => Walker::AsgctInHook,
    }
}

fn record(
    agent: &Agent,
    env: *mut JNIEnv,
    layer: Layer,
    walk: &[Frame],
    judgement: Judgement,
    sight: &Sight<'_, Registry>,
) {
    let walker = walker_of(layer);
    let judged = Judged {
        layer,
        walk,
        judgement,
        sight,
        walker,
    };
    recorder::offer(agent, env, judged);
}

/// A lie in place of `walk`, if one is to be told.
fn lie(
    agent: &Agent,
    state: &ThreadState,
    layer: Layer,
    judgement: Judgement,
    walk: &[Frame],
    env: *mut JNIEnv,
    sight: &Sight<'_, Registry>,
) -> Option<Lie> {
    let tid = state.tid();
    let said = Said {
        env,
        layer,
        tid,
        walk,
        judgement,
    };
    let judge = |lie: &[Frame]| sight.judge(lie);
    agent.liar.tell(agent, said, sight, judge)
}

fn report(
    agent: &Agent,
    state: &ThreadState,
    env: *mut JNIEnv,
    layer: Layer,
    judgement: Judgement,
    walk: &[Frame],
    truth: Vec<oracle::record::ShownFrame>,
) {
    let (tid, evidence) = (state.tid(), Evidence::default());
    let walker = walker_of(layer);
    evidence::record(
        agent,
        env,
        Found {
            layer,
            judgement,
            tid,
            walker,
            walk,
            truth,
            evidence,
        },
    );
}
