//! The elements of one thread, and who owns them.

use crate::queue::mark::Mark;
use crate::queue::room::Room;
use crate::walk::frame::{Failure, Frame};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize};
use std::time::Duration;

/// `ASGST_QueueElement`, and what the library keeps beside it.
#[repr(C)]
#[derive(Debug)]
pub struct Element {
    /// The program counter, stack pointer and frame pointer of the frame on top.
    pub place: [usize; 3],
    /// The argument of `ASGST_Enqueue`.
    pub argument: *mut c_void,
    /// The stack at the instant of the sample.
    pub mark: Mark,
}

/// Who has the elements.
const NOBODY: u8 = 0;
const THREAD: u8 = 1;
const HELPER: u8 = 2;

/// No other capacity is wanted.
const SAME: usize = usize::MAX;

/// The elements of one thread.
pub struct Queue {
    owner: AtomicU8,
    samples: UnsafeCell<Samples>,
    attempts: AtomicU32,
    /// The number of elements, for those who do not own them.
    count: AtomicUsize,
    capacity: AtomicUsize,
    wanted_capacity: AtomicUsize,
}

/// Elements, and the frames that they keep.
struct Samples {
    /// Oldest first. Never more than the capacity, for which there is room, so nothing is allocated in a handler.
    elements: VecDeque<Element>,
    room: Room,
}

impl Samples {
    fn new(capacity: usize) -> Samples {
        Samples {
            elements: VecDeque::with_capacity(capacity),
            room: Room::of(capacity),
        }
    }
}

// SAFETY: only the owner touches the samples.
unsafe impl Sync for Queue {}
// SAFETY: arguments of elements are the user's, who is told which thread gets them.
unsafe impl Send for Queue {}

/// What a queue holds at an instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Size {
    /// Elements.
    pub count: usize,
    /// The largest number of elements.
    pub capacity: usize,
    /// Attempts to enqueue since the elements were last processed.
    pub attempts: u32,
}

/// Why an element was not appended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// There is no room.
    Full,
    /// The elements are being processed.
    Processing,
    /// The stack cannot be walked.
    Unwalkable(Failure),
}

impl Queue {
    /// An empty queue for this many elements.
    pub fn new(capacity: usize) -> Queue {
        Queue {
            owner: AtomicU8::new(NOBODY),
            samples: UnsafeCell::new(Samples::new(capacity)),
            attempts: AtomicU32::new(0),
            count: AtomicUsize::new(0),
            capacity: AtomicUsize::new(capacity),
            wanted_capacity: AtomicUsize::new(SAME),
        }
    }

    /// Appends the element that `sample` makes; its frames go into the room. For the queue's thread. Async-signal-safe.
    pub fn push<T>(
        &self,
        sample: impl FnOnce(&mut Room) -> Result<(T, Element), Failure>,
    ) -> Result<T, Refusal> {
        // A stack that cannot be walked is no attempt: no queue would take it.
        let attempt = || self.attempts.fetch_add(1, Relaxed);
        let pushed = self.owned(THREAD, |samples| {
            if samples.elements.len() >= self.capacity.load(Relaxed) {
                attempt();
                return Err(Refusal::Full);
            }
            let (answer, element) = sample(&mut samples.room).map_err(Refusal::Unwalkable)?;
            attempt();
            samples.elements.push_back(element);
            self.count.store(samples.elements.len(), Release);
            Ok(answer)
        });
        pushed.unwrap_or_else(|| {
            attempt();
            Err(Refusal::Processing)
        })
    }

    /// The address of the element at `index`, from the oldest on, or from the youngest (-1) back. For the
    /// queue's thread. Async-signal-safe.
    pub fn element(&self, index: isize) -> Option<*mut Element> {
        self.owned(THREAD, |Samples { elements, .. }| {
            let from_front = match usize::try_from(index) {
                Ok(index) => index,
                Err(_) => elements.len().checked_sub(index.unsigned_abs())?,
            };
            elements.get_mut(from_front).map(std::ptr::from_mut)
        })?
    }

    /// What the queue holds. Async-signal-safe.
    pub fn size(&self) -> Size {
        Size {
            count: self.count.load(Acquire),
            capacity: self.capacity.load(Acquire),
            attempts: self.attempts.load(Relaxed),
        }
    }

    /// Wants another capacity after the elements are processed the next time. Async-signal-safe.
    pub fn want_capacity(&self, capacity: usize) {
        self.wanted_capacity.store(capacity, Release);
    }

    /// Whether there is something to process.
    pub fn is_waiting(&self) -> bool {
        self.count.load(Acquire) > 0 || self.wanted_capacity.load(Acquire) != SAME
    }

    /// Removes all elements, oldest first, and gives them and the frames that are kept to `process`. For the helper.
    /// Elements are not appended meanwhile.
    pub fn process(&self, mut process: impl FnMut(Element, &[Frame])) {
        let mut processed = None;
        // The thread's handler may be about to append an element. It waits for nobody.
        while processed.is_none() {
            processed = self.owned(HELPER, |samples| {
                while let Some(element) = samples.elements.pop_front() {
                    process(element, samples.room.frames());
                }
                samples.room.clear();
                match self.wanted_capacity.swap(SAME, AcqRel) {
                    SAME => {}
                    wanted => {
                        *samples = Samples::new(wanted);
                        self.capacity.store(wanted, Release);
                    }
                }
                self.count.store(0, Release);
                self.attempts.store(0, Relaxed);
            });
            if processed.is_none() {
                std::thread::sleep(Duration::from_micros(10));
            }
        }
    }

    /// Owns the samples during `work`; `None` if somebody else owns them.
    fn owned<T>(&self, owner: u8, work: impl FnOnce(&mut Samples) -> T) -> Option<T> {
        let taken = self.owner.compare_exchange(NOBODY, owner, AcqRel, Acquire);
        taken.ok()?;
        // SAFETY: nobody else owns the samples now.
        let result = work(unsafe { &mut *self.samples.get() });
        self.owner.store(NOBODY, Release);
        Some(result)
    }
}
