//! One sample: what the signal handler leaves for the sampler.
//!
//! # Protocol
//! A sample's `phase` word says who may touch the rest of it:
//!
//! * `FREE`: the sampler. It writes the target and moves on to
//! * `ASKED`: nobody; the signal is under way. Either the handler takes the sample
//!   (compare and exchange to `TAKEN`), or the sampler gives up (compare and exchange to
//!   `FREE`): never both.
//! * `TAKEN`: the handler. It writes, then stores
//! * `DONE`: the sampler reads, then stores `FREE`.
//!
//! Each request has a number of its own, part of the word, so that a late signal of an
//! abandoned request finds another number and does nothing. The handler never waits. The
//! sampler waits with a deadline; a sample that is `TAKEN` beyond it is put aside and comes
//! back when it is `DONE`.

use crate::threads::ThreadState;
use crate::trace_stack::StackCopy;
use crate::vm::asgct::CallFrame;
use crate::vm::java_thread::Anchor;
use oracle::tally::Drop;
use oracle::trace::Frame;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::io;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, compiler_fence};
use std::time::{Duration, Instant};

use crate::check::MAX_FRAMES;
use crate::memory::Reserved;

const FREE: u32 = 0;
const ASKED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;
const PHASES: u32 = 4;

/// How long the sampler spins before it sleeps.
const SPIN: Duration = Duration::from_micros(40);

/// What became of the target.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The walker returned this many frames, or an error code.
    Walked(i32),
    /// Another thread than the target got the signal: the target has ended.
    OtherThread,
}

/// One sample.
pub struct Sample {
    phase: AtomicU32,
    /// Whether the sampler sleeps on `phase`: only then the handler pays for a wake-up.
    sleeping: AtomicBool,
    inner: UnsafeCell<Inner>,
}

// SAFETY: `phase` hands `inner` from one thread to the other, as the protocol says.
unsafe impl Sync for Sample {}
// SAFETY: as above; nothing in it belongs to the thread that made it.
unsafe impl Send for Sample {}

/// The contents of a sample.
pub struct Inner {
    /// The thread that is asked.
    pub target: *const ThreadState,
    /// What became of it.
    pub outcome: Outcome,
    /// The trace stack at the instant of the walk.
    pub stack: StackCopy,
    /// That of the carrier, if the trace stack is a virtual thread's.
    pub carrier: StackCopy,
    /// Whether it is.
    pub carried: bool,
    /// Whether they could be copied.
    pub copied: Result<(), Drop>,
    /// The thread's state and anchor, where the VM describes them.
    pub anchor: Option<Anchor>,
    /// Program counter, stack pointer and frame pointer.
    pub registers: [usize; 3],
    frames: Reserved<CallFrame>,
}

/// A request as the signal carries it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Ticket(u32);

impl Sample {
    /// A free sample.
    pub fn new() -> io::Result<Sample> {
        Ok(Sample {
            phase: AtomicU32::new(FREE),
            sleeping: AtomicBool::new(false),
            inner: UnsafeCell::new(Inner {
                target: ptr::null(),
                outcome: Outcome::OtherThread,
                stack: StackCopy::new(MAX_FRAMES)?,
                carrier: StackCopy::new(MAX_FRAMES)?,
                carried: false,
                copied: Ok(()),
                anchor: None,
                registers: [0; 3],
                frames: Reserved::new(MAX_FRAMES)?,
            }),
        })
    }

    /// Asks `target`; `None` if the sample is not free. For the sampler.
    pub fn ask(&self, target: &ThreadState) -> Option<Ticket> {
        let word = self.phase.load(Acquire);
        if word % PHASES != FREE {
            return None;
        }
        // SAFETY: the sample is free, so it is the sampler's.
        unsafe { (*self.inner.get()).target = target };
        let asked = word.wrapping_add(ASKED);
        self.phase.store(asked, Release);
        Some(Ticket(asked))
    }

    /// Takes the sample of `ticket`, lets `fill` write it and hands it back. For the
    /// handler: async-signal-safe if `fill` is.
    pub fn take(&self, ticket: Ticket, fill: impl FnOnce(&mut Inner)) {
        let taken = ticket.0.wrapping_sub(ASKED).wrapping_add(TAKEN);
        if self
            .phase
            .compare_exchange(ticket.0, taken, AcqRel, Relaxed)
            .is_err()
        {
            return;
        }
        // SAFETY: taken, so it is the handler's.
        fill(unsafe { &mut *self.inner.get() });
        compiler_fence(Release);
        let done = taken.wrapping_sub(TAKEN).wrapping_add(DONE);
        // Sequentially consistent, as the sampler's store to `sleeping` and load of `phase`:
        // one of the two sees what the other wrote.
        self.phase.store(done, SeqCst);
        if !self.sleeping.load(SeqCst) {
            return;
        }
        // SAFETY: a system call on our own word; async-signal-safe.
        unsafe {
            let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
            libc::syscall(libc::SYS_futex, self.phase.as_ptr(), op, 1);
        }
    }

    /// Waits until the sample is done; false after the deadline. For the sampler.
    pub fn wait(&self, ticket: Ticket, deadline: Duration) -> bool {
        let start = Instant::now();
        let is_done = || self.phase.load(SeqCst) % PHASES == DONE;
        // A thread that runs answers within this time; sleeping would take longer.
        while start.elapsed() < SPIN {
            if is_done() {
                return true;
            }
            spin_loop();
        }
        self.sleeping.store(true, SeqCst);
        let done = self.sleep(ticket, start, deadline);
        self.sleeping.store(false, SeqCst);
        done
    }

    fn sleep(&self, ticket: Ticket, start: Instant, deadline: Duration) -> bool {
        loop {
            let word = self.phase.load(SeqCst);
            if word % PHASES == DONE || word == ticket.0.wrapping_sub(ASKED) {
                return word % PHASES == DONE;
            }
            let Some(left) = deadline.checked_sub(start.elapsed()) else {
                return false;
            };
            let left = libc::timespec {
                tv_sec: left.as_secs() as libc::time_t,
                tv_nsec: left.subsec_nanos().into(),
            };
            // SAFETY: a system call on our own word, with a deadline of our own.
            unsafe {
                let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
                libc::syscall(libc::SYS_futex, self.phase.as_ptr(), op, word, &left);
            }
        }
    }

    /// Gives the request up; false if the handler has taken it already. For the sampler.
    pub fn give_up(&self, ticket: Ticket) -> bool {
        let free = next_free(ticket.0);
        self.phase
            .compare_exchange(ticket.0, free, AcqRel, Relaxed)
            .is_ok()
    }

    /// Reads a sample that is done, then frees it; `None` if it is not done. For the sampler.
    pub fn read<T>(&self, read: impl FnOnce(&Inner) -> T) -> Option<T> {
        let word = self.phase.load(Acquire);
        if word % PHASES != DONE {
            return None;
        }
        // SAFETY: done, so it is the sampler's.
        let result = read(unsafe { &*self.inner.get() });
        self.phase.store(next_free(word), Release);
        Some(result)
    }
}

/// The free word with the number after that of `word`.
fn next_free(word: u32) -> u32 {
    (word / PHASES).wrapping_add(1).wrapping_mul(PHASES)
}

impl Ticket {
    /// As the signal carries it.
    pub fn to_raw(self) -> u32 {
        self.0
    }

    /// From what the signal carried.
    pub fn from_raw(raw: u32) -> Ticket {
        Ticket(raw)
    }
}

impl Inner {
    /// Where the walker writes, and how many frames fit.
    pub fn buffer(&mut self) -> (*mut CallFrame, i32) {
        (self.frames.start().as_ptr(), MAX_FRAMES as i32)
    }

    /// The frames that the walker wrote, top first.
    pub fn walk(&self) -> impl Iterator<Item = Frame> {
        let count = match self.outcome {
            Outcome::Walked(count) => count.clamp(0, MAX_FRAMES as i32) as usize,
            Outcome::OtherThread => 0,
        };
        // SAFETY: the walker wrote so many.
        let frames = unsafe { std::slice::from_raw_parts(self.frames.start().as_ptr(), count) };
        frames.iter().map(|&frame| frame.into())
    }
}
