//! The elements of one thread, and who owns them.

use crate::queue::halves::{Halves, NotEmptied};
use crate::queue::mark::Mark;
use crate::queue::room::Room;
use crate::walk::frame::{Failure, Frame};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};
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

/// No other capacity is wanted.
const SAME: usize = usize::MAX;

/// The elements of one thread. Those that are being processed are in a half of their own, so that samples of the thread, which may
/// be interrupted again before it runs on, have a place meanwhile.
pub struct Queue {
    halves: Halves<Samples>,
    counts: [Counts; 2],
    wanted_capacity: AtomicUsize,
}

/// What a half holds, for those who neither fill nor empty it.
struct Counts {
    count: AtomicUsize,
    capacity: AtomicUsize,
    attempts: AtomicU32,
}

/// Elements, and the frames that they keep.
struct Samples {
    /// Oldest first. Never more than the capacity, for which there is room, so nothing is allocated in a handler.
    elements: VecDeque<Element>,
    room: Room,
}

impl Samples {
    /// `None` if there is no memory for this many.
    fn new(capacity: usize) -> Option<Samples> {
        let mut elements = VecDeque::new();
        elements.try_reserve_exact(capacity).ok()?;
        let room = Room::of(capacity)?;
        Some(Samples { elements, room })
    }
}

impl Counts {
    fn new(capacity: usize) -> Counts {
        Counts {
            count: AtomicUsize::new(0),
            capacity: AtomicUsize::new(capacity),
            attempts: AtomicU32::new(0),
        }
    }
}

// SAFETY: arguments of elements are the user's, who is told which thread gets them.
unsafe impl Send for Samples {}

/// What a queue holds at an instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Size {
    /// Elements that wait. Those that are being processed do not count.
    pub count: usize,
    /// The largest number of elements.
    pub capacity: usize,
    /// Attempts to enqueue since the last elements were taken to be processed.
    pub attempts: u32,
}

/// Why an element was not appended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// There is no room.
    Full,
    /// Another element is being appended.
    Appending,
    /// The stack cannot be walked.
    Unwalkable(Failure),
}

impl Queue {
    /// An empty queue for this many elements; `None` if there is no memory for them.
    pub fn new(capacity: usize) -> Option<Queue> {
        Some(Queue {
            halves: Halves::new([Samples::new(capacity)?, Samples::new(capacity)?]),
            counts: [(); 2].map(|()| Counts::new(capacity)),
            wanted_capacity: AtomicUsize::new(SAME),
        })
    }

    /// Appends the element that `sample` makes; its frames go into the room. For the queue's thread. Async-signal-safe.
    pub fn push<T>(
        &self,
        sample: impl FnOnce(&mut Room) -> Result<(T, Element), Failure>,
    ) -> Result<T, Refusal> {
        // A stack that cannot be walked is no attempt: no queue would take it.
        let attempt = |counts: &Counts| counts.attempts.fetch_add(1, Relaxed);
        let pushed = self.halves.fill_reserving(|half, samples| {
            let counts = &self.counts[half];
            if samples.elements.len() >= counts.capacity.load(Relaxed) {
                attempt(counts);
                return (Err(Refusal::Full), false);
            }
            let (answer, element) = match sample(&mut samples.room) {
                Ok(made) => made,
                Err(failure) => return (Err(Refusal::Unwalkable(failure)), false),
            };
            attempt(counts);
            let needs_stack = element.mark.needs_stack();
            samples.elements.push_back(element);
            counts.count.store(samples.elements.len(), Release);
            (Ok(answer), needs_stack)
        });
        pushed.unwrap_or_else(|| {
            attempt(self.filled());
            Err(Refusal::Appending)
        })
    }

    /// The address of the element at `index`, from the oldest on, or from the youngest (-1) back. For the
    /// queue's thread. Async-signal-safe.
    pub fn element(&self, index: isize) -> Option<*mut Element> {
        self.halves.fill(|_, Samples { elements, .. }| {
            let from_front = match usize::try_from(index) {
                Ok(index) => index,
                Err(_) => elements.len().checked_sub(index.unsigned_abs())?,
            };
            elements.get_mut(from_front).map(std::ptr::from_mut)
        })?
    }

    /// What the queue holds. Async-signal-safe.
    pub fn size(&self) -> Size {
        let counts = self.filled();
        Size {
            count: counts.count.load(Acquire),
            capacity: counts.capacity.load(Acquire),
            attempts: counts.attempts.load(Relaxed),
        }
    }

    /// Wants another capacity after the elements are processed the next time. The queue keeps the one it has if there is no memory
    /// for the other. Async-signal-safe.
    pub fn want_capacity(&self, capacity: usize) {
        self.wanted_capacity.store(capacity, Release);
    }

    /// Whether there is something to process.
    pub fn is_waiting(&self) -> bool {
        self.filled().count.load(Acquire) > 0 || self.wanted_capacity.load(Acquire) != SAME
    }

    /// Whether an element lacks frames, which are only on the stack of the thread.
    pub fn needs_stack(&self) -> bool {
        self.halves.is_reserved()
    }

    /// Removes all elements, oldest first, and gives them and the frames that are kept to `process`; then those that were appended
    /// meanwhile, but not those of that time: a thread whose samples are due faster than they are processed is not stopped for ever.
    ///
    /// Unless `all` are wanted, the elements of a half in which one lacks frames stay.
    pub fn process(&self, all: bool, mut process: impl FnMut(Element, &[Frame])) {
        // Each half is emptied once, so both get the capacity.
        let wanted = self.wanted_capacity.swap(SAME, AcqRel);
        for _half in 0..2 {
            loop {
                match self.empty_half(all, wanted, &mut process) {
                    Ok(()) => break,
                    // The thread's handler may be about to append an element. It waits for nobody.
                    Err(NotEmptied::Busy) => std::thread::sleep(Duration::from_micros(10)),
                    Err(NotEmptied::Reserved) => {
                        // The next one sets the capacity, unless somebody wants another by now.
                        let capacity = &self.wanted_capacity;
                        _ = capacity.compare_exchange(SAME, wanted, AcqRel, Relaxed);
                        return;
                    }
                }
            }
        }
    }

    /// Empties the half that was filled.
    fn empty_half(
        &self,
        all: bool,
        wanted: usize,
        process: &mut impl FnMut(Element, &[Frame]),
    ) -> Result<(), NotEmptied> {
        let empty = |half: usize, samples: &mut Samples| {
            while let Some(element) = samples.elements.pop_front() {
                process(element, samples.room.frames());
            }
            samples.room.clear();
            let counts = &self.counts[half];
            if wanted != SAME
                && let Some(new) = Samples::new(wanted)
            {
                *samples = new;
                counts.capacity.store(wanted, Release);
            }
            counts.count.store(0, Release);
            counts.attempts.store(0, Relaxed);
        };
        if all {
            self.halves.empty(empty)
        } else {
            self.halves.empty_unreserved(empty)
        }
    }

    /// What is known of the half that is filled.
    fn filled(&self) -> &Counts {
        &self.counts[self.halves.filled()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_without_memory_is_refused_and_changes_nothing() {
        const TOO_MANY: usize = usize::MAX / 2;
        assert!(Queue::new(TOO_MANY).is_none());
        let queue = Queue::new(3).expect("memory");
        let capacity_after = |wanted| {
            queue.want_capacity(wanted);
            queue.process(true, |_, _| {});
            (queue.size().capacity, queue.is_waiting())
        };
        assert_eq!(capacity_after(TOO_MANY), (3, false));
        assert_eq!(capacity_after(5), (5, false));
    }
}
