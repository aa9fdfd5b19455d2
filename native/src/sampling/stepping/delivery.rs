//! A request of a thread that steps, made by a signal to itself.
//!
//! A profiler's walker may look at where its handler runs: async-profiler's takes a stack for broken whose frames are not near
//! the handler's own. The handler of traps runs on a stack of its own, so it does not call the profiler's. It sends the thread
//! the profiler's signal, which is blocked until the handler returns. The kernel delivers a signal before it lets the thread go
//! on, so the profiler's handler runs on the thread's own stack, with the context of the instant.
//!
//! One request is under way at a time. It goes from one state to the next, and each state has one thread that may leave it:
//!
//! * `FREE`: the thread that holds the stepper asks, in its handler of traps;
//! * asked (the thread's id): the thread answers, in its handler of the profiler's signal; or a thread that holds the stepper
//!   gives the request up;
//! * `ANSWERING`: the thread, whose profiler's handler runs;
//! * `ANSWERED`: the next thread that holds the stepper takes the times.

use crate::arch;
use crate::jvm::os::requests::profiler;
use crate::jvm::os::signal::{HandlerContext, SignalSender};
use crate::jvm::os::thread::id;
use oracle::RecordedSampler;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize};

/// No request is under way.
const FREE: i32 = 0;
/// The profiler's handler runs.
const ANSWERING: i32 = -1;
/// The profiler's handler has returned.
const ANSWERED: i32 = -2;

static STATE: AtomicI32 = AtomicI32::new(FREE);
/// Where the thread is that was asked.
static PC: AtomicUsize = AtomicUsize::new(0);
/// The processor's counter before the profiler's handler, and behind.
static FROM: AtomicU64 = AtomicU64::new(0);
static TO: AtomicU64 = AtomicU64::new(0);

/// A request that is under way.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// There is none.
    Free,
    /// The thread has not got the signal, or its handler runs.
    UnderWay,
    /// The thread went on without an answer.
    Lost,
    /// The processor's counter before the profiler's handler, and behind.
    Answered(u64, u64),
}

/// Asks the calling thread, whose id is `tid`, at `pc`, where its handler of traps returns to. Returns false if the profiler
/// cannot be asked, or another request is under way. Async-signal-safe, for the thread that holds the stepper.
pub fn ask(sender: SignalSender, tid: i32, pc: usize) -> bool {
    if STATE.load(Acquire) != FREE {
        return false;
    }
    PC.store(pc, Relaxed);
    STATE.store(tid, Release);
    let is_sent = profiler::request(sender, tid);
    if !is_sent {
        STATE.store(FREE, Release);
    }
    is_sent
}

/// What became of the last request. The caller, whose id is `tid`, holds the stepper and is at an instant, behind any request of
/// its own. Async-signal-safe.
pub fn take(tid: i32) -> Delivery {
    match STATE.load(Acquire) {
        FREE => Delivery::Free,
        ANSWERED => {
            let during = Delivery::Answered(FROM.load(Relaxed), TO.load(Relaxed));
            STATE.store(FREE, Release);
            during
        }
        asked if asked == tid => give_up(asked),
        _ => Delivery::UnderWay,
    }
}

/// Gives up a request of a thread, unless the thread answers now. Async-signal-safe, for the thread that holds the stepper.
fn give_up(asked: i32) -> Delivery {
    match STATE.compare_exchange(asked, FREE, Relaxed, Relaxed) {
        Ok(_) => Delivery::Lost,
        Err(_) => Delivery::UnderWay,
    }
}

/// Gives up a request that no thread has answered for long: its thread may have ended.
pub fn expire() -> Delivery {
    match STATE.load(Relaxed) {
        asked if asked > FREE => give_up(asked),
        _ => Delivery::UnderWay,
    }
}

/// Runs in place of the profiler's handler: calls it for a request of ours alone.
pub fn around(_: RecordedSampler, context: &HandlerContext<'_>, earlier: &mut dyn FnMut()) {
    // The handler of traps may run within that of a fault, which blocks less: then the signal comes at once, elsewhere.
    let is_there = context.registers().pc == PC.load(Relaxed);
    let answers = || STATE.compare_exchange(id(), ANSWERING, Acquire, Relaxed);
    if is_there && answers().is_ok() {
        FROM.store(arch::counter(), Relaxed);
        earlier();
        TO.store(arch::counter(), Relaxed);
        STATE.store(ANSWERED, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because there is one request in a process.
    #[test]
    fn a_request_is_answered_once_at_its_place() {
        let own = id();
        let answer = |pc: usize| {
            let mut calls = 0;
            HandlerContext::for_test(|context| {
                PC.store(if pc == 0 { context.registers().pc } else { pc }, Relaxed);
                around(RecordedSampler::Profiler, context, &mut || calls += 1);
            });
            calls
        };
        assert_eq!((take(own), answer(0)), (Delivery::Free, 0), "no request");
        // As `ask`, without a signal.
        STATE.store(own, Release);
        assert_eq!(answer(1), 0, "elsewhere");
        assert_eq!(take(own + 1), Delivery::UnderWay, "of another thread");
        assert_eq!(answer(0), 1);
        assert_eq!(answer(0), 0, "a second signal");
        let Delivery::Answered(from, to) = take(own) else {
            panic!("it was answered");
        };
        assert!(from <= to);
        STATE.store(own, Release);
        assert_eq!(take(own), Delivery::Lost, "the thread is behind it");
        STATE.store(own + 1, Release);
        assert_eq!(expire(), Delivery::Lost);
        assert_eq!(take(own), Delivery::Free);
    }
}
