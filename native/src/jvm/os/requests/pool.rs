//! Values that the signal handlers of many threads pass to one thread.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use vm::sync::{Arc, AtomicU32, AtomicUsize, UnsafeCell};

/// A value is free: a handler may take it.
const FREE: u32 = 0;
/// A handler has the value.
const TAKEN: u32 = 1;
/// The value waits for the reader.
const READY: u32 = 2;

/// The end for handlers. Every thread may use it.
pub struct Writers<T>(Arc<Shared<T>>);

/// The end that reads.
pub struct Reader<T>(Arc<Shared<T>>);

struct Shared<T> {
    slots: Box<[Slot<T>]>,
    /// The index of the value whose turn it is.
    next: AtomicUsize,
}

/// How many values are tried from that whose turn it is on: more than handlers run at once.
const TRIED: usize = 64;

struct Slot<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: who has set a slot's state to `TAKEN` has its value alone, until it sets the state to `READY`. Then
// the only reader has the value, until it sets the state to `FREE`.
unsafe impl<T: Send> Sync for Shared<T> {}

/// A pool of `values`, all of which are free.
pub fn pool<T: Send>(values: Vec<T>) -> (Writers<T>, Reader<T>) {
    let slot = |value| Slot {
        state: AtomicU32::new(FREE),
        value: UnsafeCell::new(value),
    };
    let shared = Arc::new(Shared {
        slots: values.into_iter().map(slot).collect(),
        next: AtomicUsize::new(0),
    });
    (Writers(shared.clone()), Reader(shared))
}

impl<T> Writers<T> {
    /// Lets `write` write a free value, and passes it on. Returns false, and does not call `write`, if the
    /// value whose turn it is is not free, and neither are those behind it that other handlers may leave free. Async-signal-safe
    /// if `write` is. A handler may interrupt another handler within `write`.
    pub fn pass(&self, write: impl FnOnce(&mut T)) -> bool {
        let Writers(shared) = self;
        let count = shared.slots.len();
        let next = shared.next.load(Relaxed);
        let mut tried = (next..next + TRIED.min(count)).map(|at| (at, &shared.slots[at % count]));
        let taken = tried.find(|(_, slot)| {
            let taken = slot.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed);
            taken.is_ok()
        });
        // The turn stays where it is if nothing is free there, because that is where the reader is. Behind it all values wait.
        let Some((at, slot)) = taken else {
            return false;
        };
        // Two handlers at once may set it back by a few, which are tried again.
        shared.next.store((at + 1) % count, Relaxed);
        // SAFETY: the state says that the value is ours.
        slot.value.with_mut(|value| write(unsafe { &mut *value }));
        slot.state.store(READY, Release);
        true
    }
}

impl<T> Reader<T> {
    /// Lets `read` read each value that waits, and frees it. Returns how many there were.
    pub fn read(&mut self, mut read: impl FnMut(&T)) -> usize {
        let Reader(shared) = self;
        let mut count = 0;
        for slot in &shared.slots {
            if slot.state.load(Acquire) == READY {
                // SAFETY: the state says that the value is the reader's.
                slot.value.with(|value| read(unsafe { &*value }));
                slot.state.store(FREE, Release);
                count += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn each_value_of_many_writers_is_read_once() {
        const EACH: usize = 2000;
        let (writers, mut reader) = pool(vec![0; 5]);
        let done = AtomicBool::new(false);
        let mut seen = BTreeSet::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let writers = &writers;
                    scope.spawn(move || {
                        for number in 0..EACH {
                            while !writers.pass(|value| *value = thread * EACH + number) {
                                std::thread::yield_now();
                            }
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                threads
                    .into_iter()
                    .for_each(|thread| thread.join().expect("no panic"));
                done.store(true, Relaxed);
            });
            while !done.load(Relaxed) {
                reader.read(|&value| assert!(seen.insert(value), "{value} came twice"));
            }
        });
        reader.read(|&value| assert!(seen.insert(value), "{value} came twice"));
        assert_eq!(seen.len(), 3 * EACH);
    }

    #[test]
    fn a_full_pool_has_room_as_soon_as_one_value_is_read() {
        let (writers, mut reader) = pool(vec![0; 4]);
        (1..=4).for_each(|number| assert!(writers.pass(|value| *value = number)));
        (0..3).for_each(|_| assert!(!writers.pass(|_| unreachable!("none is free"))));
        let mut seen = vec![];
        reader.read(|&value| {
            // The one that was read before this one is free.
            let is_room = !seen.is_empty();
            seen.push(value);
            assert_eq!(writers.pass(|value| *value = 5), is_room, "at {value}");
        });
        assert_eq!(seen, [1, 2, 3, 4]);
    }

    #[test]
    fn a_handler_within_a_handler_gets_another_value() {
        let (writers, mut reader) = pool(vec![0; 2]);
        assert!(writers.pass(|outer| {
            assert!(writers.pass(|inner| *inner = 2));
            assert!(!writers.pass(|_| unreachable!("none is free")));
            *outer = 1;
        }));
        let mut seen = vec![];
        assert_eq!(reader.read(|&value| seen.push(value)), 2);
        seen.sort();
        assert_eq!(seen, [1, 2]);
    }
}
