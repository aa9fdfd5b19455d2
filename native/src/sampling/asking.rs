//! Requests for samples: the sampler and the signal handler exchange the samples here.

use super::sample::Sample;
use crate::jvm::os::clock;
use crate::jvm::os::handoff::{self, Pool};
use crate::jvm::os::signal::HandlerContext;
use crate::truth::thread_state::ThreadState;
use oracle::Layer;
use std::io;
use std::time::Duration;
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
