//! How many allocations the VM reports.

use crate::jvm::jvmti::{Event, Jvmti};
use crate::jvm::os::clock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// So many events a second are wanted of all threads together. Each costs the program some 2 µs, besides
/// the check that it may make.
const WANTED: f64 = 2500.0;

/// So many events at most until their rate is looked at.
const MOST: u64 = 1000;

/// So many allocations by the VM are reported until the next look. A program can have millions in a second
/// (the fixture `lambdas` on JDK 25), and each costs the program more than 0.1 µs.
const MOST_BY_VM: u64 = 1000;

/// Bytes between two sampled objects, on average: at the start, at the least and at the most.
const START: u64 = 1 << 16;
const LEAST: u64 = 1 << 10;
const GREATEST: u64 = 1 << 26;

/// A change of the interval at once is not greater: rates jump.
const FACTOR: f64 = 64.0;

/// Keeps the rate of sampled allocations, whatever the program allocates.
pub struct Allocations {
    jvmti: Jvmti,
    /// Bytes between two sampled objects, on average.
    interval: AtomicU64,
    /// Events since the last look, and when that was, in nanoseconds of `clock::since_start`.
    count: AtomicU64,
    looked: AtomicU64,
    /// Allocations by the VM since the last look. From [`MOST_BY_VM`] on the rest is left out.
    by_vm: AtomicU64,
}

impl Allocations {
    /// Begins with an interval that suits programs which allocate much. The capability for sampled
    /// allocations must be there, or nothing happens.
    pub fn new(jvmti: Jvmti) -> Allocations {
        _ = jvmti.set_heap_sampling_interval(START as i32);
        Allocations {
            jvmti,
            interval: AtomicU64::new(START),
            count: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            by_vm: AtomicU64::new(0),
        }
    }

    /// The VM has reported an allocation of its own.
    pub fn reported_by_vm(&self) {
        if self.by_vm.fetch_add(1, Relaxed) + 1 == MOST_BY_VM {
            _ = self.jvmti.disable_event(Event::VmObjectAlloc);
        }
    }

    /// Lets the VM report its own allocations again.
    pub fn look_at_vm(&self) {
        if self.by_vm.swap(0, Relaxed) >= MOST_BY_VM {
            _ = self.jvmti.enable_event(Event::VmObjectAlloc);
        }
    }

    /// The VM has reported an allocation.
    pub fn reported(&self) {
        if self.count.fetch_add(1, Relaxed) + 1 >= MOST {
            self.look(clock::since_start());
        }
    }

    /// Adjusts the interval to the rate since the last look. Of two threads that look at once one may find
    /// nothing.
    pub fn look(&self, now: u64) {
        let (count, looked) = (self.count.swap(0, Relaxed), self.looked.swap(now, Relaxed));
        let interval = self.interval.load(Relaxed);
        let adjusted = adjusted(interval, count, now.saturating_sub(looked));
        if adjusted != interval {
            self.interval.store(adjusted, Relaxed);
            _ = self.jvmti.set_heap_sampling_interval(adjusted as i32);
        }
    }
}

/// The interval that gives as many events as are wanted, where `interval` gave `count` in so many nanoseconds.
fn adjusted(interval: u64, count: u64, nanos: u64) -> u64 {
    let wanted = WANTED * nanos.max(1) as f64 / 1e9;
    let factor = (count as f64 / wanted).clamp(1.0 / FACTOR, FACTOR);
    ((interval as f64 * factor) as u64).clamp(LEAST, GREATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_interval_follows_the_rate() {
        assert_eq!(adjusted(START, 2500, SECOND), START);
        assert_eq!(adjusted(START, 1000, SECOND / 25), 10 * START);
        assert_eq!(adjusted(START, 250, SECOND), START / 10);
        assert_eq!(adjusted(START, 0, SECOND), START / 64);
        assert_eq!(adjusted(LEAST, 0, SECOND), LEAST);
        assert_eq!(adjusted(GREATEST, 1000, 0), GREATEST);
    }
}
