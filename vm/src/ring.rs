//! Values that a signal handler passes to a thread, in a ring.

use crate::sync::{Arc, AtomicUsize, UnsafeCell};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The end that writes. One thread at a time has it.
pub struct Writer<T>(Arc<Shared<T>>);

/// The end that reads.
pub struct Reader<T>(Arc<Shared<T>>);

struct Shared<T> {
    values: Box<[UnsafeCell<T>]>,
    /// How many values were written, and how many were read.
    written: AtomicUsize,
    read: AtomicUsize,
}

// SAFETY: the writer has the values from `read` + length on, the reader those from `read` to `written`.
unsafe impl<T: Send> Sync for Shared<T> {}

/// A ring of `values`, all of which are free.
pub fn ring<T: Send>(values: Vec<T>) -> (Writer<T>, Reader<T>) {
    let shared = Arc::new(Shared {
        values: values.into_iter().map(UnsafeCell::new).collect(),
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
    });
    (Writer(shared.clone()), Reader(shared))
}

impl<T> Writer<T> {
    /// Whether a value is free. Async-signal-safe.
    pub fn has_room(&self) -> bool {
        let Writer(shared) = self;
        let used = shared.written.load(Relaxed) - shared.read.load(Acquire);
        used < shared.values.len()
    }

    /// Lets `write` write a free value, and passes it on. Returns false if none is free. Async-signal-safe
    /// if `write` is.
    pub fn pass(&mut self, write: impl FnOnce(&mut T)) -> bool {
        if !self.has_room() {
            return false;
        }
        let Writer(shared) = self;
        let at = shared.written.load(Relaxed);
        // SAFETY: free, so it is the writer's.
        shared.values[at % shared.values.len()].with_mut(|value| write(unsafe { &mut *value }));
        shared.written.store(at + 1, Release);
        true
    }
}

impl<T> Reader<T> {
    /// Lets `read` read the next value, if there is one, and frees it.
    pub fn next<R>(&mut self, read: impl FnOnce(&T) -> R) -> Option<R> {
        let Reader(shared) = self;
        let at = shared.read.load(Relaxed);
        if at == shared.written.load(Acquire) {
            return None;
        }
        // SAFETY: passed on, so it is the reader's.
        let result = shared.values[at % shared.values.len()].with(|value| read(unsafe { &*value }));
        shared.read.store(at + 1, Release);
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_and_none_is_lost() {
        let (mut writer, mut reader) = ring(vec![0; 3]);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut next = 1;
                while next <= 1000 {
                    if writer.pass(|value| *value = next) {
                        next += 1;
                    } else {
                        std::thread::yield_now();
                    }
                }
            });
            let mut expected = 1;
            while expected <= 1000 {
                match reader.next(|value| *value) {
                    Some(value) => {
                        assert_eq!(value, expected);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
    }
}
