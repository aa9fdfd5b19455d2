//! The JVM's own sampler by CPU time is asked at chosen instants. Its answers are in a recording.
//!
//! The JVM's handler of SIGPROF takes the registers that it gets for those of the interrupted code. So the handler of
//! traps calls that handler with the context of the step, as if the thread's timer had fired there.

use super::counts::{COUNTS, Counts};
use super::instant::{AtInstant, MOST_CALLS, Reached, WAITING};
use crate::arch;
use crate::jvm::os::requests::wrapping::{Asking, request_here};
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use oracle::random::mix;
use vm::ring::{Reader, Writer, ring};

/// So many ticks of the processor's counter lie between two requests at least. The time of an event is known to about a
/// thousand ticks, and must belong to one request alone.
const APART: u64 = 1 << 13;

/// A request, and what was true then.
pub struct StepRequest {
    /// Kernel id of the thread.
    pub tid: i32,
    /// The processor's counter before the JVM's handler, and behind.
    pub during: (u64, u64),
    /// Whether the thread carries a virtual thread.
    pub carried: bool,
    /// Where the thread is.
    pub place: Place,
    /// What the interpreter does.
    pub interpreted: Interpreted,
    /// The calls that have not returned, the oldest first.
    pub calls: Vec<Call>,
}

/// Makes requests at one of so many instants, at random.
pub struct Requesting {
    one_in: u64,
    random: u64,
    /// When the last request ended, by the processor's counter.
    last: u64,
    writer: Writer<StepRequest>,
}

impl Requesting {
    /// Makes requests at one of `one_in` instants, and passes them on.
    pub fn new(one_in: u32, seed: u64) -> (Requesting, Reader<StepRequest>) {
        let request = || StepRequest {
            tid: 0,
            during: (0, 0),
            carried: false,
            place: Place::default(),
            interpreted: Interpreted::No,
            calls: Vec::with_capacity(MOST_CALLS),
        };
        let (writer, reader) = ring((0..WAITING).map(|_| request()).collect());
        let requesting = Requesting {
            one_in: u64::from(one_in).max(1),
            random: seed,
            last: 0,
            writer,
        };
        (requesting, reader)
    }
}

impl AtInstant for Requesting {
    fn reach(&mut self, at: &Reached<'_>) {
        self.random = mix(self.random);
        let is_apart = arch::counter().wrapping_sub(self.last) > APART;
        if !self.random.is_multiple_of(self.one_in) || !is_apart {
            return;
        }
        Counts::add(&COUNTS.instants);
        if !self.writer.has_room() {
            // The JVM is not asked what nobody could judge.
            return Counts::add(&COUNTS.unjudged);
        }
        let from = arch::counter();
        if !request_here(Asking::CpuTime, at.thread.context()) {
            return Counts::add(&COUNTS.unjudged);
        }
        let during = (from, arch::counter());
        self.last = during.1;
        let state = at.thread.state();
        self.writer.pass(|request| {
            request.tid = state.tid();
            request.during = during;
            request.carried = state.carrier_stack().is_some();
            request.place = *at.place;
            request.interpreted = at.interpreted;
            request.calls.clear();
            let room = request.calls.capacity();
            let calls = &at.calls[..at.calls.len().min(room)];
            request.calls.extend_from_slice(calls);
        });
    }
}
