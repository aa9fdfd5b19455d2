//! Values that one thread lends to signal handlers of other threads, and gets back.
//!
//! # Protocol
//! Each value has a `phase` word, which says who may touch the value:
//!
//! * `FREE`: the owner. The owner writes the request and stores
//! * `ASKED`: no thread, because the signal is under way. Either the handler takes the value
//!   (compare and exchange to `TAKEN`), or the owner gives up (compare and exchange to `FREE`):
//!   never both.
//! * `TAKEN`: the handler. The handler writes, then stores
//! * `DONE`: the owner reads, then stores `FREE`.
//!
//! Each request has a number of its own, part of the word, so that a late signal of an abandoned
//! request finds another number and does nothing. The handler never waits. The owner waits with a
//! deadline; a value that is `TAKEN` beyond the deadline is put aside and comes back when it is
//! `DONE`. The owner holds each value as a token whose type is the phase, so that the owner can
//! neither touch a handler's value nor lose a value by mistake.

use crate::jvm::os::signal::HandlerContext;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use vm::sync::{AtomicU32, UnsafeCell};

const FREE: u32 = 0;
const ASKED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;
const PHASES: u32 = 4;

/// The values. They are never freed, because a signal may be late.
pub struct Pool<T: 'static>(OnceLock<Vec<Shared<T>>>);

/// What the owner and a handler share.
struct Shared<T> {
    phase: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: `phase` hands the value from one thread to the other, as the protocol says.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The value and the request, in the form that signals carry.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Ticket {
    place: u32,
    number: u32,
}

/// A value that may be lent.
pub struct Free<T: 'static>(Token<T>);

/// A value that was lent.
pub struct Asked<T: 'static>(Token<T>);

/// A value that came back.
pub struct Done<T: 'static>(Token<T>);

/// A value that the owner gave up when a handler had just taken it.
pub struct Late<T: 'static>(Token<T>);

/// How a request ended.
pub enum Ended<T: 'static> {
    /// The value came back.
    Done(Done<T>),
    /// No handler took the value.
    Lost(Free<T>),
    /// A handler still has the value.
    Late(Late<T>),
}

/// The owner's access to a value. There is one token for each value.
struct Token<T: 'static> {
    shared: &'static Shared<T>,
    ticket: Ticket,
}

impl<T: Send> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool::new()
    }
}

impl<T: Send> Pool<T> {
    /// A pool without values.
    pub const fn new() -> Pool<T> {
        Pool(OnceLock::new())
    }

    /// Makes all values. To be called once.
    pub fn fill(&'static self, values: Vec<T>) -> io::Result<Vec<Free<T>>> {
        let new = |value| Shared {
            phase: AtomicU32::new(FREE),
            value: UnsafeCell::new(value),
        };
        let mut is_new = false;
        let all = self.0.get_or_init(|| {
            is_new = true;
            values.into_iter().map(new).collect()
        });
        if !is_new {
            return Err(io::Error::other("the values exist already"));
        }
        let free = |(shared, place)| {
            let ticket = Ticket { place, number: 0 };
            Free(Token { shared, ticket })
        };
        Ok(all.iter().zip(0..).map(free).collect())
    }

    /// Takes the value of `ticket`, if the ticket is still valid, lets `write` write the value, and
    /// gives it back. Returns whether the ticket was valid.
    pub fn answer(
        &self,
        _: &HandlerContext<'_>,
        ticket: Ticket,
        write: impl FnOnce(&mut T),
    ) -> bool {
        let Some(shared) = self.0.get().and_then(|all| all.get(ticket.place as usize)) else {
            return false;
        };
        let (asked, taken) = (ticket.word(ASKED), ticket.word(TAKEN));
        let exchanged = shared.phase.compare_exchange(asked, taken, AcqRel, Relaxed);
        if exchanged.is_err() {
            return false;
        }
        // SAFETY: taken, so it is the handler's.
        shared.value.with_mut(|value| write(unsafe { &mut *value }));
        shared.phase.store(ticket.word(DONE), SeqCst);
        true
    }
}

impl<T> Free<T> {
    /// Lends the value, after `prepare` has written the request. `send` must send the ticket. If
    /// `send` fails, the value is free.
    pub fn ask(
        mut self,
        prepare: impl FnOnce(&mut T),
        send: impl FnOnce(Ticket) -> io::Result<()>,
    ) -> Result<Asked<T>, Free<T>> {
        let Token { shared, ticket } = &self.0;
        // SAFETY: free, so it is the owner's.
        shared
            .value
            .with_mut(|value| prepare(unsafe { &mut *value }));
        shared.phase.store(ticket.word(ASKED), Release);
        match send(*ticket) {
            Ok(()) => Ok(Asked(self.0)),
            Err(_) => {
                // No thread has got the ticket.
                self.0.renew();
                Err(self)
            }
        }
    }
}

impl<T> Asked<T> {
    /// Whether the value came back.
    pub fn is_done(&self) -> bool {
        self.0.is(DONE)
    }

    /// Stops waiting.
    pub fn end(mut self) -> Ended<T> {
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

impl<T> Late<T> {
    /// The free value, if the handler has finished with it.
    pub fn end(self) -> Result<Free<T>, Late<T>> {
        if self.0.is(DONE) {
            Ok(Done(self.0).free())
        } else {
            Err(self)
        }
    }
}

impl<T> Done<T> {
    /// What the handler wrote.
    pub fn value(&self) -> &T {
        // SAFETY: done, so it is the owner's.
        self.0.shared.value.with(|value| unsafe { &*value })
    }

    /// Makes the value ready to be lent.
    pub fn free(mut self) -> Free<T> {
        self.0.renew();
        Free(self.0)
    }
}

impl<T> Token<T> {
    fn is(&self, phase: u32) -> bool {
        self.shared.phase.load(SeqCst) == self.ticket.word(phase)
    }

    /// Makes the value free, and late signals invalid.
    fn renew(&mut self) {
        self.ticket = self.ticket.next();
        self.shared.phase.store(self.ticket.word(FREE), Release);
    }
}

impl Ticket {
    /// The value's word with this ticket in `phase`.
    fn word(self, phase: u32) -> u32 {
        self.number.wrapping_mul(PHASES).wrapping_add(phase)
    }

    fn next(self) -> Ticket {
        let number = self.number.wrapping_add(1);
        Ticket { number, ..self }
    }

    /// The ticket as a word for the signal.
    pub fn to_raw(self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.number)
    }

    /// The ticket of a signal's word.
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

    /// Sends no signal, and keeps the ticket.
    fn ask(free: Free<i32>) -> (Asked<i32>, Ticket) {
        let mut kept = None;
        let send = |ticket| {
            kept = Some(ticket);
            Ok(())
        };
        let asked = free.ask(|_| (), send);
        (asked.ok().expect("it was sent"), kept.expect("as above"))
    }

    #[test]
    fn each_request_is_answered_once_or_never() {
        static POOL: Pool<i32> = Pool::new();
        let answer = |ticket: Ticket, value| {
            let ticket = Ticket::from_raw(ticket.to_raw());
            HandlerContext::for_test(|context| POOL.answer(context, ticket, |v| *v = value))
        };
        let mut all = POOL.fill(vec![0, 0]).expect("they are new");
        assert!(POOL.fill(vec![0]).is_err());
        let free = all.pop().expect("there are some");

        let (asked, first) = ask(free);
        assert!(!asked.is_done() && answer(first, 7) && asked.is_done());
        assert!(!answer(first, 8), "it was answered");
        let Ended::Done(done) = asked.end() else {
            panic!("it is done")
        };
        assert_eq!(*done.value(), 7);

        let (asked, second) = ask(done.free());
        assert!(!answer(first, 9), "it is over");
        let Ended::Lost(free) = asked.end() else {
            panic!("nobody answered")
        };
        assert!(!answer(second, 9), "it was given up");

        let (asked, third) = ask(free);
        let mut late = None;
        let mut asked = Some(asked);
        HandlerContext::for_test(|context| {
            POOL.answer(context, third, |_| {
                // The owner gives up while the handler writes.
                late = asked.take().map(Asked::end);
            })
        });
        let Some(Ended::Late(late)) = late else {
            panic!("the handler has it")
        };
        let free = late.end().ok().expect("the handler is done");

        let refused = free.ask(|_| (), |_| Err(io::ErrorKind::Other.into()));
        let (asked, fourth) = ask(refused.err().expect("it was not sent"));
        assert!(answer(fourth, 1) && asked.is_done());
    }
}
