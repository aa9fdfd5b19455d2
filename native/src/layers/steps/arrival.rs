//! Where threads begin to step: in an event of JVMTI. There GetStackTrace gives the thread's frames, and
//! the VM's anchor gives the calls. Where a thread that steps comes to an event, GetStackTrace is compared
//! with the steps: layer `gst-step`.

use super::truth::{Names, truth};
use crate::evidence::Sampled;
use crate::jvm::jni::Env;
use crate::jvm::step_facts::AnchorFacts;
use crate::layers::context::Layers;
use crate::layers::path::{Check, nothing_more, unless_doubtful};
use crate::sampling::stepping::counts::End;
use crate::sampling::stepping::handler;
use crate::truth::thread_state::ThreadState;
use crate::walkers::here::with_scratch;
use hotspot::steps::shadow::{Call, Interpreted};
use hotspot::steps::{Place, anchor};
use oracle::judge::Truth;
use oracle::{Layer, StepTruth, TruthKind, Verdict};
use std::cell::RefCell;
use vm::memory::kernel::OwnMemory;

const LAYER: Layer = TruthKind::Steps.checked_by();

thread_local! {
    /// Used by a thread that does not step at that moment.
    static NAMES: RefCell<Names> = RefCell::default();
}

/// The calling thread is in an event: it steps no more while `work` runs. Then it steps on, or begins to.
pub fn around(layers: &Layers, state: &ThreadState, env: Env<'_>, work: impl FnOnce()) {
    let stepped = handler::pause();
    work();
    if stepped {
        let calls = handler::with(|stepper| stepper.calls().map(<[_]>::to_vec));
        match calls {
            Some(Some(calls)) if !is_true(layers, state, env, &calls) => {
                handler::give_back(End::Refuted);
            }
            _ => handler::go_on(),
        }
    } else if layers.truth.jvm.is_live() && handler::take() {
        match begin(layers, state, env) {
            Ok(()) => handler::go_on(),
            Err(end) => handler::give_back(end),
        }
    }
}

/// Whether GetStackTrace agrees with the calls that the steps have shown. Counts the check.
fn is_true(layers: &Layers, state: &ThreadState, env: Env<'_>, calls: &[Call]) -> bool {
    let slots = &layers.records.slots;
    let judged = compare(layers, state, env, calls, |truth, gst| {
        let check = Check {
            layer: LAYER,
            env,
            tid: state.tid(),
            seen: Sampled::Plainly,
            event: None,
            evidence: &nothing_more,
        };
        let truth = unless_doubtful(truth, &layers.truth.methods);
        check.run(layers, gst, &truth).verdict
    });
    match judged {
        Some(verdict) => verdict == Verdict::Match,
        None => {
            slots.count(LAYER, Verdict::Unverifiable);
            true
        }
    }
}

/// Finds the calls of the calling thread by the VM's anchor, with which GetStackTrace must agree.
fn begin(layers: &Layers, state: &ThreadState, env: Env<'_>) -> Result<(), End> {
    let calls = calls(layers, state).ok_or(End::NoCalls)?;
    let verdict = compare(layers, state, env, &calls, |truth, gst| {
        truth.judge(gst).verdict
    });
    match verdict {
        Some(Verdict::Match) => {}
        Some(_) => return Err(End::Disagrees),
        None => return Err(End::NoFrames),
    }
    match handler::with(|stepper| stepper.begin(state.stack_bounds(), &calls)) {
        Some(true) => Ok(()),
        _ => Err(End::TooDeep),
    }
}

/// The calls of the calling thread below its last Java frame.
fn calls(layers: &Layers, state: &ThreadState) -> Option<Vec<Call>> {
    let jvm = layers.truth.jvm;
    let facts = AnchorFacts {
        facts: jvm.step_facts.as_ref().ok()?,
        interpreter: jvm.interpreter().ok()?,
    };
    let anchor = jvm.java_threads.as_ref().ok()?.last_frame(state.env())?;
    anchor::calls(anchor, &facts, &OwnMemory)
}

/// Asks GetStackTrace, and compares the answer with the frames of `calls`; `None` if one of them is not
/// known, or if GetStackTrace answers for another thread, as where a virtual thread is mounted.
fn compare(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    calls: &[Call],
    judge: impl FnOnce(&StepTruth, &[oracle::trace::Frame]) -> Verdict,
) -> Option<Verdict> {
    with_scratch(|scratch| {
        let asked = scratch.ask_gst(layers.walkers, layers.truth, state, env);
        asked.ok()?;
        let jvm = layers.truth.jvm;
        NAMES.with_borrow_mut(|names| {
            let (methods, threads) = (&layers.truth.methods, &layers.truth.virtual_threads);
            let raw = scratch.gst.frames();
            let gst = names.walk(methods, env, raw);
            let at = (&Place::default(), Interpreted::No);
            let read = |names: &mut Names| {
                let mut truth = truth(jvm, names, at, calls)?;
                if let Some(threads) = threads.as_ref().filter(|it| it.may_carry(state)) {
                    if threads.is_switching(state, raw) {
                        return None;
                    }
                    // In a virtual thread GetStackTrace gives the virtual thread's frames alone.
                    if state.carrier_stack().is_some() {
                        let boundary = names.walked(methods, env, threads.enter_special()?);
                        let mut callers = truth.callers.iter();
                        let end = callers.position(|frame| frame.method == boundary)?;
                        truth.callers.truncate(end);
                    }
                }
                Some(truth)
            };
            let mut truth = read(names)?;
            if truth.judge(&gst).verdict != Verdict::Match {
                // The VM may have reported too late that a class was unloaded whose method had this address.
                names.forget();
                truth = read(names)?;
            }
            Some(judge(&truth, &gst))
        })
    })?
}
