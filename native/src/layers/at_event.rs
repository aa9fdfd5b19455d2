//! Layers of events, such as `asgct-event`: a walker of the calling thread in an event of JVMTI, compared with
//! GetStackTrace at the same place. The program runs as it is.
//!
//! The events arrive in the thread itself, with the thread's Java frames on the stack: sampled
//! allocations, where allocation profilers ask, allocations by the VM, contended monitors, waits, and
//! classes that are loaded and prepared. Native methods have a thunk that tells of their calls.

use super::context::Layers;
use super::with_here::{self, Place, Reference, Trust};
use super::{at_check, gst, gst_slice};
use crate::edges::Patience;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Event;
use crate::jvm::os::clock;
use crate::truth::thread_state::ThreadState;
use crate::walkers::buffer::Room;
use crate::walkers::here::{NoAnswer, Scratch, with_scratch};
use oracle::Verdict;
use oracle::tally::Drop;
use oracle::trace::Frame;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The part of the thread's share for checks that checks in events may take. The rest is for the events
/// that make no check: calls of native methods go through thunks, and sampled allocations take the slow way.
const OF_SHARE: f64 = 0.75;

/// Maximum number of calls of native methods between two reads of the clock.
const MOST_CALLS: u32 = 64;

/// Whether events make no check now.
static RESTS: AtomicBool = AtomicBool::new(false);

/// Keeps the rates of events. About every second.
pub fn keep_rates(layers: &Layers) {
    if layers.config.events && !RESTS.load(Relaxed) {
        layers.allocations.look(clock::since_start());
        layers.allocations.look_at_vm();
    }
}

/// A turn begins in which events make checks, or do not arrive.
pub fn begin_turn(layers: &Layers, with_checks: bool) {
    let jvmti = layers.truth.jvm.jvmti;
    let changes = RESTS.swap(!with_checks, Relaxed) == with_checks;
    if !layers.config.events || !changes {
        return;
    }
    layers.allocations.look_at_vm();
    for event in Event::IN_THREAD
        .into_iter()
        .chain([Event::SampledObjectAlloc])
    {
        // Another agent may have the last of them.
        _ = if with_checks {
            jvmti.enable_event(event)
        } else {
            jvmti.disable_event(event)
        };
    }
}

/// An event has arrived in the calling thread: makes a check, if the share of the thread's time that
/// checks may take allows one.
pub fn arrived(layers: &Layers, state: &ThreadState, env: Env<'_>, place: Place) {
    let share = OF_SHARE * layers.config.sampling.check_share;
    if !layers.config.events || RESTS.load(Relaxed) || share <= 0.0 || !layers.truth.jvm.is_live() {
        return;
    }
    match place {
        Place::Event(Event::SampledObjectAlloc) => layers.allocations.reported(),
        Place::Event(Event::VmObjectAlloc) => layers.allocations.reported_by_vm(),
        _ => {}
    }
    let now = clock::since_start();
    let start = match time_to_check(state, now) {
        Ok(start) => start,
        Err(left) => {
            state.own.not_before.set(now + left);
            if let Place::NativeMethod = place {
                state.skip_calls(now, left, MOST_CALLS);
            }
            return;
        }
    };
    with_scratch(|scratch| check(layers, state, env, (place, scratch)));
    let end = cpu_time();
    let pause = at_check::pause(share, state, end.saturating_sub(start));
    state.plan_check(1, end + pause);
    let now = clock::since_start();
    state.own.not_before.set(now + pause);
    state.skip_calls(now, pause, MOST_CALLS);
}

/// The thread's CPU time, if it is time for a check at `now`, in nanoseconds of `clock::since_start`; else how many
/// nanoseconds are left at the least.
///
/// The pause between two checks is CPU time: on a busy machine a thread may lose its processor in the middle of a check, and
/// would seem to need a long pause. The clock on the wall is read first, because it takes a tenth of the time, and CPU time
/// does not pass faster.
fn time_to_check(state: &ThreadState, now: u64) -> Result<u64, u64> {
    let left = state.own.not_before.get().saturating_sub(now);
    if left > 0 {
        return Err(left);
    }
    let start = cpu_time();
    match state.time_left(start) {
        0 => Ok(start),
        left => Err(left),
    }
}

/// The CPU time of the calling thread, in nanoseconds.
fn cpu_time() -> u64 {
    clock::thread_cpu_time().as_nanos() as u64
}

fn check(
    layers: &Layers,
    state: &ThreadState,
    env: Env<'_>,
    (place, scratch): (Place, &mut Scratch),
) {
    let slots = &layers.records.slots;
    let Some(layer) = layers.in_events.next_layer() else {
        return;
    };
    let asked = clock::since_start();
    match scratch.ask_gst(layers.walkers, layers.truth, state, env) {
        Ok(()) => {}
        Err(NoAnswer::NobodyToAsk) => return,
        Err(NoAnswer::Switching | NoAnswer::NoIds | NoAnswer::Failed(_)) => {
            return slots.count(layer, Verdict::Unverifiable);
        }
        Err(NoAnswer::TooDeep) => return slots.drop(layer, Drop::TooDeep),
    }
    if scratch.gst.frames().is_empty() {
        // A thread of the VM, or one that has not begun to run Java code.
        return;
    }
    gst_slice::now_and_then(layers, state, env, scratch);
    let walked = if layers.config.gst_twice {
        scratch.ask_gst_again(layers.walkers, env)
    } else {
        scratch.ask(layers.walkers, layer, env, Room::Ample)
    };
    let Some(walked) = walked else { return };
    let carrier = match with_here::carrier(state, &mut scratch.carrier) {
        Ok(carrier) => carrier,
        Err(cause) => return slots.drop(layer, cause),
    };
    let (gst, walk) = (scratch.gst.frames(), scratch.walk.frames());
    let reference = Reference {
        gst,
        trust: if walk.starts_with(gst) {
            Trust::Unopposed
        } else {
            by_class_files(layers, state, env, gst)
        },
        asked,
        carrier,
        place,
    };
    with_here::check(layers, layer, state, env, &reference, (walked, walk));
}

/// What class files say of GetStackTrace's answer, where they are kept.
fn by_class_files(layers: &Layers, state: &ThreadState, env: Env<'_>, gst: &[Frame]) -> Trust {
    let found = layers
        .edge_judge()
        .and_then(|judge| judge.sure_findings(env, Patience::Hurries, gst::walked(state), gst));
    let is_refuted = found.iter().flatten().any(|found| found.is_impossible());
    if is_refuted {
        Trust::Refuted
    } else {
        Trust::Unopposed
    }
}
