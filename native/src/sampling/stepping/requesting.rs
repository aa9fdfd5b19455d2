//! A sampler that asks by itself, the JVM's own or a profiler, is asked at chosen instants. Its answers are in a recording.
//!
//! The sampler's handler takes the registers that it gets for those of the interrupted code. So the handler of traps calls the
//! JVM's handler with the context of the step, as if the thread's timer had fired there. How a profiler's is called:
//! [`delivery`](super::delivery).

use super::counts::{COUNTS, Counts};
use super::delivery::{self, Delivery};
use super::instant::{AtInstant, MOST_CALLS, Reached, WAITING};
use crate::arch;
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::os::requests::wrapping::{Asking, request_here};
use crate::jvm::os::signal::SignalSender;
use crate::jvm::os::trap::Next;
use crate::sampling::requests::WORDS;
use crate::sampling::sample::Interruption;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use oracle::random::mix;
use std::mem;
use vm::ring::{Reader, Writer, ring};

/// So many ticks of the processor's counter lie between two requests at least. The time of an event is known to about a
/// thousand ticks, and must belong to one request alone.
const APART: u64 = 1 << 13;

/// A request, and what was true then.
pub struct StepRequest {
    /// Kernel id of the thread.
    pub tid: i32,
    /// The processor's counter before the sampler's handler, and behind.
    pub during: (u64, u64),
    /// Whether the thread carries a virtual thread.
    pub carried: bool,
    /// Where the thread is.
    pub place: Place,
    /// What the interpreter does.
    pub interpreted: Interpreted,
    /// The calls that have not returned, the oldest first.
    pub calls: Vec<Call>,
    /// What was interrupted.
    pub at: Interruption,
}

/// How the sampler is asked.
#[derive(Copy, Clone)]
pub enum Caller {
    /// JFR's sampler by CPU time: the handler of traps calls its handler.
    CpuTime,
    /// A profiler: the thread sends itself the profiler's signal.
    Profiler(SignalSender),
}

/// So many ticks of the processor's counter after a request its thread must have answered: some seconds.
const LATE: u64 = 1 << 34;

/// Makes requests at one of so many instants, at random.
pub struct Requesting {
    caller: Caller,
    /// The VM's threads, if the VM describes them.
    threads: Option<&'static JavaThreads>,
    one_in: u64,
    random: u64,
    /// When the last request ended, by the processor's counter.
    last: u64,
    /// The request that is under way.
    asked: StepRequest,
    writer: Writer<StepRequest>,
}

impl Requesting {
    /// Makes requests at one of `one_in` instants, and passes them on.
    pub fn new(
        caller: Caller,
        threads: Option<&'static JavaThreads>,
        one_in: u32,
        seed: u64,
    ) -> (Requesting, Reader<StepRequest>) {
        let (writer, reader) = ring((0..WAITING).map(|_| StepRequest::new()).collect());
        let requesting = Requesting {
            caller,
            threads,
            one_in: u64::from(one_in).max(1),
            random: seed,
            last: 0,
            asked: StepRequest::new(),
            writer,
        };
        (requesting, reader)
    }
}

impl StepRequest {
    /// Memory for a request.
    fn new() -> StepRequest {
        StepRequest {
            tid: 0,
            during: (0, 0),
            carried: false,
            place: Place::default(),
            interpreted: Interpreted::No,
            calls: Vec::with_capacity(MOST_CALLS),
            at: Interruption::new(WORDS),
        }
    }

    /// Copies what is true of the thread into the memory that is there. Async-signal-safe.
    fn copy(&mut self, at: &Reached<'_>, threads: Option<&JavaThreads>) {
        let state = at.thread.state();
        self.tid = state.tid();
        self.carried = state.carrier_stack().is_some();
        self.place = *at.place;
        self.interpreted = at.interpreted;
        self.calls.clear();
        let room = self.calls.capacity();
        self.calls
            .extend_from_slice(&at.calls[..at.calls.len().min(room)]);
        self.at.copy(at.thread, threads);
    }
}

impl Requesting {
    /// Passes the request on that was made at `during`.
    fn pass(&mut self, during: (u64, u64)) {
        self.last = during.1;
        self.asked.during = during;
        let asked = &mut self.asked;
        self.writer.pass(|request| mem::swap(request, asked));
    }

    /// Passes the last request of a profiler on if it was answered. Returns whether there is none any more.
    fn settle(&mut self, tid: i32) -> bool {
        let is_late = arch::counter().wrapping_sub(self.last) > LATE;
        let delivery = match delivery::take(tid) {
            Delivery::UnderWay if is_late => delivery::expire(),
            delivery => delivery,
        };
        match delivery {
            Delivery::Free => {}
            Delivery::UnderWay => return false,
            Delivery::Lost => Counts::add(&COUNTS.unjudged),
            Delivery::Answered(from, to) => self.pass((from, to)),
        }
        true
    }

    /// Asks the sampler at an instant.
    fn ask(&mut self, at: &Reached<'_>) -> Next {
        self.asked.copy(at, self.threads);
        let from = arch::counter();
        match self.caller {
            Caller::CpuTime if request_here(Asking::CpuTime, at.thread.context()) => {
                self.pass((from, arch::counter()));
                Next::Step
            }
            Caller::Profiler(sender) if delivery::ask(sender, self.asked.tid, at.place.pc) => {
                self.last = from;
                Next::Deliver
            }
            _ => {
                Counts::add(&COUNTS.unjudged);
                Next::Step
            }
        }
    }
}

impl AtInstant for Requesting {
    fn reach(&mut self, at: &Reached<'_>) -> Next {
        if !self.settle(at.thread.state().tid()) {
            return Next::Step;
        }
        self.random = mix(self.random);
        let is_apart = arch::counter().wrapping_sub(self.last) > APART;
        if !self.random.is_multiple_of(self.one_in) || !is_apart {
            return Next::Step;
        }
        Counts::add(&COUNTS.instants);
        if !self.writer.has_room() {
            // The sampler is not asked what nobody could judge.
            Counts::add(&COUNTS.unjudged);
            return Next::Step;
        }
        self.ask(at)
    }
}
