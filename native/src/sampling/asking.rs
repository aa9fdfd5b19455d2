//! Asking a thread for a sample: what the sampler and the signal handler hand to each other.

use super::bell::Bell;
use super::sample::Sample;
use crate::jvm::os::handoff::{self, Pool};
use crate::jvm::os::signal::HandlerContext;
use crate::truth::thread_state::ThreadState;
use std::io;
use std::time::Duration;

/// How many samples there are: those under way, and those whose thread answers late.
const SAMPLES: usize = 64;

/// All samples.
static ALL: Pool<Order> = Pool::new();

/// Rung when a sample is done.
static BELL: Bell = Bell::new();

/// A sample that may be asked for.
pub type Free = handoff::Free<Order>;

/// A sample on its way.
pub type Asked = handoff::Asked<Order>;

/// A sample that can be read.
pub type Done = handoff::Done<Order>;

/// A sample that was given up when the handler had just taken it.
pub type Late = handoff::Late<Order>;

/// How much is wanted of a thread.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Depth {
    /// The walk and all that it is compared with.
    Check,
    /// The walk alone, to see what the rest costs.
    Walk,
}

/// What is wanted of whom, and what came of it.
pub struct Order {
    /// The thread that is asked, once somebody is.
    pub target: Option<&'static ThreadState>,
    /// What is wanted.
    pub depth: Depth,
    /// What came of it.
    pub sample: Sample,
}

/// Makes all samples, once.
pub fn make() -> io::Result<Vec<Free>> {
    let new = || {
        Ok(Order {
            target: None,
            depth: Depth::Check,
            sample: Sample::new()?,
        })
    };
    let made: io::Result<_> = (0..SAMPLES).map(|_| new()).collect();
    ALL.fill(made?)
}

/// Takes the sample of the ticket in `word`, if that is still good, lets `fill` write it and
/// hands it back.
pub fn answer(context: &HandlerContext<'_>, word: u64, fill: impl FnOnce(&mut Order)) {
    if ALL.answer(context, handoff::Ticket::from_raw(word), fill) {
        BELL.ring(context);
    }
}

/// Asks `target`. `signal` must send it the word of a ticket; if that fails, the sample is free.
pub fn ask(
    free: Free,
    target: &'static ThreadState,
    depth: Depth,
    signal: impl FnOnce(u64) -> io::Result<()>,
) -> Result<Asked, Free> {
    let prepare = |order: &mut Order| (order.target, order.depth) = (Some(target), depth);
    free.ask(prepare, |ticket| signal(ticket.to_raw()))
}

/// Waits until one of `asked` is done; false after `patience`.
pub fn wait<'a>(asked: impl Iterator<Item = &'a Asked> + Clone, patience: Duration) -> bool {
    BELL.wait(patience, || asked.clone().any(Asked::is_done))
}
