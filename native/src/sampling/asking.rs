//! Asking a thread for a sample: what the sampler and the signal handler hand to each other.
//!
//! # Protocol
//! Each sample has a `phase` word, which says who may touch the rest of it:
//!
//! * `FREE`: the sampler. It writes the target and moves on to
//! * `ASKED`: nobody; the signal is under way. Either the handler takes the sample (compare and
//!   exchange to `TAKEN`), or the sampler gives up (compare and exchange to `FREE`): never both.
//! * `TAKEN`: the handler. It writes, then stores
//! * `DONE`: the sampler reads, then stores `FREE`.
//!
//! Each request has a number of its own, part of the word, so that a late signal of an
//! abandoned one finds another number and does nothing. The handler never waits. The sampler
//! waits with a deadline; a sample that is `TAKEN` beyond it is put aside and comes back when it
//! is `DONE`. The sampler holds each sample as a token of the type that its phase has, so that
//! it can neither touch what is not its own nor lose a sample by mistake.

use crate::sampling::bell::Bell;
use crate::sampling::sample::Sample;
use crate::truth::threads::ThreadState;
use std::cell::UnsafeCell;
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// How many samples there are: those under way, and those whose thread answers late.
const SAMPLES: u32 = 64;

const FREE: u32 = 0;
const ASKED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;
const PHASES: u32 = 4;

/// Rung when a sample is done.
static BELL: Bell = Bell::new();

/// All samples. They live for good, because a signal may be late.
static ALL: OnceLock<Vec<Shared>> = OnceLock::new();

/// What the sampler and a handler share.
struct Shared {
    phase: AtomicU32,
    order: UnsafeCell<Order>,
}

// SAFETY: `phase` hands `order` from one thread to the other, as the protocol says.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it belongs to the thread that made it.
unsafe impl Send for Shared {}

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
    /// The thread that is asked.
    pub target: *const ThreadState,
    /// What is wanted.
    pub depth: Depth,
    /// What came of it.
    pub sample: Sample,
}

/// Which sample, and which request: what signals carry.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Ticket {
    place: u32,
    number: u32,
}

/// A sample that may be asked for.
pub struct Free(Token);

/// A sample on its way.
pub struct Asked(Token);

/// A sample that can be read.
pub struct Done(Token);

/// A sample that was given up when the handler had just taken it.
pub struct Late(Token);

/// What became of a request that is not waited for any longer.
pub enum Ended {
    /// It was answered.
    Done(Done),
    /// It was not.
    Lost(Free),
    /// It is being answered, too late.
    Late(Late),
}

/// There is one of each sample.
struct Token {
    shared: &'static Shared,
    ticket: Ticket,
}

/// Makes all samples, once.
pub fn make() -> io::Result<Vec<Free>> {
    let new = || {
        Ok(Shared {
            phase: AtomicU32::new(FREE),
            order: UnsafeCell::new(Order {
                target: ptr::null(),
                depth: Depth::Check,
                sample: Sample::new()?,
            }),
        })
    };
    let made: io::Result<_> = (0..SAMPLES).map(|_| new()).collect();
    ALL.set(made?)
        .map_err(|_| io::Error::other("the samples exist already"))?;
    let all = ALL.get().map_or(&[][..], |all| all);
    let free = |(shared, place)| {
        let ticket = Ticket { place, number: 0 };
        Free(Token { shared, ticket })
    };
    Ok(all.iter().zip(0..).map(free).collect())
}

/// Takes the sample of `ticket`, if that is still good, lets `fill` write it and hands it back.
/// For the handler: async-signal-safe if `fill` is.
pub fn answer(ticket: Ticket, fill: impl FnOnce(&mut Order)) {
    let Some(shared) = ALL.get().and_then(|all| all.get(ticket.place as usize)) else {
        return;
    };
    let (asked, taken) = (ticket.word(ASKED), ticket.word(TAKEN));
    let exchanged = shared.phase.compare_exchange(asked, taken, AcqRel, Relaxed);
    if exchanged.is_err() {
        return;
    }
    // SAFETY: taken, so it is the handler's.
    fill(unsafe { &mut *shared.order.get() });
    shared.phase.store(ticket.word(DONE), SeqCst);
    BELL.ring();
}

/// Waits until one of `asked` is done; false after `patience`.
pub fn wait<'a>(asked: impl Iterator<Item = &'a Asked> + Clone, patience: Duration) -> bool {
    BELL.wait(patience, || asked.clone().any(Asked::is_done))
}

impl Free {
    /// Asks `target`. `signal` must send it the ticket; if it fails, the sample is free.
    pub fn ask(
        mut self,
        target: *const ThreadState,
        depth: Depth,
        signal: impl FnOnce(Ticket) -> io::Result<()>,
    ) -> Result<Asked, Free> {
        let Token { shared, ticket } = &self.0;
        // SAFETY: free, so it is the sampler's.
        let order = unsafe { &mut *shared.order.get() };
        (order.target, order.depth) = (target, depth);
        shared.phase.store(ticket.word(ASKED), Release);
        match signal(*ticket) {
            Ok(()) => Ok(Asked(self.0)),
            Err(_) => {
                // Nobody has got the ticket.
                self.0.renew();
                Err(self)
            }
        }
    }
}

impl Asked {
    /// Whether it was answered.
    pub fn is_done(&self) -> bool {
        self.0.is(DONE)
    }

    /// Waits no longer.
    pub fn end(mut self) -> Ended {
        let Token { shared, ticket } = &self.0;
        let given_up = ticket.next().word(FREE);
        let asked = ticket.word(ASKED);
        let exchanged = shared
            .phase
            .compare_exchange(asked, given_up, AcqRel, Acquire);
        match exchanged {
            Ok(_) => {
                self.0.ticket = ticket.next();
                Ended::Lost(Free(self.0))
            }
            Err(word) if word == ticket.word(DONE) => Ended::Done(Done(self.0)),
            Err(_) => Ended::Late(Late(self.0)),
        }
    }
}

impl Late {
    /// It, free, if it is done by now.
    pub fn end(self) -> Result<Free, Late> {
        match self.0.is(DONE) {
            true => Ok(Done(self.0).free()),
            false => Err(self),
        }
    }
}

impl Done {
    /// The sample.
    pub fn sample(&self) -> &Sample {
        // SAFETY: done, so it is the sampler's.
        unsafe { &(*self.0.shared.order.get()).sample }
    }

    /// Makes it ready to be asked for.
    pub fn free(mut self) -> Free {
        self.0.renew();
        Free(self.0)
    }
}

impl Token {
    fn is(&self, phase: u32) -> bool {
        self.shared.phase.load(SeqCst) == self.ticket.word(phase)
    }

    /// The sample is free, and late signals are no longer good.
    fn renew(&mut self) {
        self.ticket = self.ticket.next();
        self.shared.phase.store(self.ticket.word(FREE), Release);
    }
}

impl Ticket {
    /// The sample's word with this ticket in `phase`.
    fn word(self, phase: u32) -> u32 {
        self.number.wrapping_mul(PHASES).wrapping_add(phase)
    }

    fn next(self) -> Ticket {
        let number = self.number.wrapping_add(1);
        Ticket { number, ..self }
    }

    /// As the signal carries it.
    pub fn to_raw(self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.number)
    }

    /// From what the signal carried.
    pub fn from_raw(raw: u64) -> Ticket {
        Ticket {
            place: (raw >> 32) as u32,
            number: raw as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::sample::Outcome;

    /// Asks nobody, and keeps the ticket.
    fn ask(free: Free) -> (Asked, Ticket) {
        let mut kept = None;
        let signal = |ticket| {
            kept = Some(ticket);
            Ok(())
        };
        let asked = free.ask(ptr::null(), Depth::Check, signal);
        (asked.ok().expect("it was sent"), kept.expect("as above"))
    }

    fn answer_with(ticket: Ticket, frames: i32) -> bool {
        let mut came = false;
        answer(Ticket::from_raw(ticket.to_raw()), |order| {
            (order.sample.outcome, came) = (Outcome::Walked(frames), true);
        });
        came
    }

    #[test]
    fn each_request_is_answered_once_or_never() {
        // One test, because the samples are made once.
        let mut all = make().expect("memory");
        assert!(make().is_err());
        let free = all.pop().expect("there are some");

        let (asked, first) = ask(free);
        assert!(!asked.is_done() && answer_with(first, 7) && asked.is_done());
        assert!(!answer_with(first, 8), "it was answered");
        let Ended::Done(done) = asked.end() else {
            panic!("it is done")
        };
        assert_eq!(done.sample().outcome, Outcome::Walked(7));

        let (asked, second) = ask(done.free());
        assert!(!answer_with(first, 9), "it is over");
        let Ended::Lost(free) = asked.end() else {
            panic!("nobody answered")
        };
        assert!(!answer_with(second, 9), "it was given up");

        let (asked, third) = ask(free);
        let mut late = None;
        let mut asked = Some(asked);
        answer(third, |_| {
            // The sampler gives up while the handler writes.
            late = asked.take().map(Asked::end);
        });
        let Some(Ended::Late(late)) = late else {
            panic!("the handler has it")
        };
        let free = late.end().ok().expect("the handler is done");

        let refused = free.ask(ptr::null(), Depth::Check, |_| {
            Err(io::ErrorKind::Other.into())
        });
        let (asked, fourth) = ask(refused.err().expect("it was not sent"));
        assert!(answer_with(fourth, 1) && asked.is_done());
    }
}
