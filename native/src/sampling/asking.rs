//! Requests for samples: the sampler and the signal handler exchange the samples here. A handler that is late may still have a
//! sample when its request is over; the supply takes it back later.

use super::sample::{Reply, Sample};
use super::targets::Target;
use crate::jvm::os::clock;
use crate::jvm::os::handoff::{self, Ended, Pool};
use crate::jvm::os::signal::{HandlerContext, SignalSender};
use crate::truth::thread_state::ThreadState;
use oracle::Layer;
use oracle::tally::Drop;
use std::io;
use std::time::{Duration, Instant};
use vm::notifier::Notifier;

/// The number of samples: requests under way, and samples whose thread answers late.
const SAMPLES: usize = 64;

/// All samples.
static ALL: Pool<Order> = Pool::new();

/// Rings when a sample is done.
static NOTIFIER: Notifier = Notifier::new();

/// A sample that may be requested.
pub type Free = handoff::Free<Order>;

/// A sample that was requested.
pub type Asked = handoff::Asked<Order>;

/// A sample that can be read.
pub type Done = handoff::Done<Order>;

/// A sample that the sampler gave up when the handler had just taken it.
pub type Late = handoff::Late<Order>;

/// How much a sample has.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Depth {
    /// The walk and everything with which the walk is compared.
    Check,
    /// The walk alone, to measure the cost of the rest.
    Walk,
}

/// What a thread is asked.
#[derive(Copy, Clone)]
pub struct Question {
    /// The thread.
    pub target: &'static ThreadState,
    /// The layer whose walker is asked.
    pub layer: Layer,
    /// How much the sample must have.
    pub depth: Depth,
}

/// A request and its answer.
pub struct Order {
    /// What a thread is asked, once a thread is asked.
    pub question: Option<Question>,
    /// The answer.
    pub sample: Sample,
}

/// Makes all samples. To be called once.
pub fn make() -> io::Result<Vec<Free>> {
    let new = || {
        Ok(Order {
            question: None,
            sample: Sample::new()?,
        })
    };
    let made: io::Result<_> = (0..SAMPLES).map(|_| new()).collect();
    ALL.fill(made?)
}

/// Takes the sample of the ticket in `word`, if the ticket is still valid, lets `fill` write the
/// sample, and gives it back.
pub fn answer(context: &HandlerContext<'_>, word: u64, fill: impl FnOnce(&mut Order)) {
    if ALL.answer(context, handoff::Ticket::from_raw(word), fill) {
        NOTIFIER.notify();
    }
}

/// Asks a thread. `signal` must send the word of a ticket to this thread. If `signal` fails, the
/// sample is free.
pub fn ask(
    free: Free,
    question: Question,
    signal: impl FnOnce(u64) -> io::Result<()>,
) -> Result<Asked, Free> {
    let prepare = |order: &mut Order| {
        order.question = Some(question);
        order.sample.asked = clock::since_start();
    };
    free.ask(prepare, |ticket| signal(ticket.to_raw()))
}

/// Waits until one of `asked` is done. Returns false after `patience`.
pub fn wait<'a>(asked: impl Iterator<Item = &'a Asked> + Clone, patience: Duration) -> bool {
    NOTIFIER.wait(patience, || asked.clone().any(Asked::is_done))
}

/// How long a thread may take to answer.
pub const ANSWER: Duration = Duration::from_millis(200);

/// A thread that was asked.
pub struct Request<'e> {
    pub target: Target<'e>,
    /// The layer whose walker is asked.
    pub layer: Layer,
    pub asked: Asked,
    pub at: Instant,
}

impl Request<'_> {
    /// Whether the thread has answered, or is too late.
    pub fn is_over(&self) -> bool {
        self.asked.is_done() || self.at.elapsed() >= ANSWER
    }
}

/// The samples that are not under way.
pub struct Supply {
    free: Vec<Free>,
    /// Samples that a late handler has taken.
    late: Vec<Late>,
}

impl Supply {
    /// All of these may be asked for.
    pub fn new(free: Vec<Free>) -> Supply {
        Supply {
            free,
            late: Vec::new(),
        }
    }

    /// A sample that may be requested, if there is one.
    pub fn take(&mut self) -> Option<Free> {
        for late in std::mem::take(&mut self.late) {
            match late.end() {
                Ok(free) => self.free.push(free),
                Err(late) => self.late.push(late),
            }
        }
        self.free.pop()
    }

    /// Takes a sample back.
    pub fn give_back(&mut self, sample: Free) {
        self.free.push(sample);
    }

    /// Ends a request to the thread `tid`: the answer, or why there is none. If another thread has
    /// answered, the sample holds the truth of an older sample, and is not returned.
    pub fn end(&mut self, asked: Asked, sender: SignalSender, tid: i32) -> Result<Done, Drop> {
        match asked.end() {
            Ended::Done(done) if done.value().sample.reply == Reply::OtherThread => {
                self.free.push(done.free());
                return Err(Drop::ThreadEnded);
            }
            Ended::Done(done) => return Ok(done),
            Ended::Lost(free) => self.free.push(free),
            Ended::Late(late) => self.late.push(late),
        }
        // The C library blocks all signals while a thread ends, so the last ones are never delivered.
        if sender.reaches(tid) {
            Err(Drop::NoAnswer)
        } else {
            Err(Drop::ThreadEnded)
        }
    }
}
