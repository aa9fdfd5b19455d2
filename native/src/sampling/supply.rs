//! The samples that may be requested, and the samples that a late handler still has.

use super::asking::{Asked, Done, Free, Late};
use super::sample::Reply;
use super::targets::Target;
use crate::jvm::os::handoff::Ended;
use crate::jvm::os::signal::SignalSender;
use oracle::Layer;
use oracle::tally::Drop;
use std::time::{Duration, Instant};

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
