//! The pace of a thread's exact hooks: how many of them are native calls.

use crate::jvm::os::clock;
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// So many hooks of a thread are native calls in a second, if it runs at least so many. They take
/// about a hundredth of its time.
const NATIVE_PER_SECOND: u64 = 500_000;

/// The rate of a thread's hooks is measured over so many of them.
const MEASURED: u64 = 1 << 12;

/// The most hooks that run in Java for each native one. A check that is due waits for a native hook.
const MOST: u64 = 1 << 12;

/// Exact hooks of all threads, by the way they ran.
#[derive(Debug, Default)]
pub struct HookCounts {
    /// Native calls.
    pub native: AtomicU64,
    /// Hooks in Java.
    pub in_java: AtomicU64,
}

/// What a thread knows of its exact hooks.
#[derive(Debug, Default)]
pub struct Pace {
    /// Whether hooks may run in Java.
    on: Cell<bool>,
    /// The mean number of hooks up to and with the next native one.
    stride: Cell<u64>,
    /// Hooks since `since`.
    native: Cell<u64>,
    in_java: Cell<u64>,
    /// The start of the measurement, in nanoseconds.
    since: Cell<u64>,
}

impl Pace {
    /// A thread begins: its hooks are native calls.
    pub fn reset(&self, on: bool) {
        self.on.set(on);
        self.stride.set(1);
        self.native.set(0);
        self.in_java.set(0);
        self.since.set(clock::since_start());
    }

    /// Whether hooks may run in Java.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on.get()
    }

    /// So many hooks ran in Java.
    #[inline(always)]
    pub fn ran_in_java(&self, hooks: u64) {
        self.in_java.set(self.in_java.get() + hooks);
    }

    /// A native push or pop ends: how many hooks run in Java before the next. `counts` is called once
    /// in many times.
    #[inline(always)]
    pub fn next<'a>(
        &self,
        counts: impl FnOnce() -> Option<&'a HookCounts>,
        random: impl FnOnce() -> u64,
    ) -> u32 {
        let native = self.native.get() + 1;
        self.native.set(native);
        if native + self.in_java.get() >= MEASURED {
            self.measure(counts());
        }
        match self.stride.get() {
            0 | 1 => 0,
            stride => (random() % (2 * stride - 1)) as u32,
        }
    }

    /// The hooks since the last call.
    fn take(&self) -> (u64, u64) {
        (self.native.take(), self.in_java.take())
    }

    /// Measures the rate of hooks up to now.
    #[cold]
    pub fn measure(&self, counts: Option<&HookCounts>) {
        let now = clock::since_start();
        let (native, in_java) = self.take();
        let elapsed = now.saturating_sub(self.since.replace(now)).max(1);
        self.stride.set(stride(native + in_java, elapsed));
        if let Some(counts) = counts {
            counts.native.fetch_add(native, Relaxed);
            counts.in_java.fetch_add(in_java, Relaxed);
        }
    }
}

/// The mean number of hooks up to and with the next native one, where `hooks` took so many
/// nanoseconds, at least one.
fn stride(hooks: u64, elapsed: u64) -> u64 {
    let per_second = hooks.saturating_mul(1_000_000_000) / elapsed;
    (per_second / NATIVE_PER_SECOND).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_of_a_thread_that_runs_few_are_native() {
        assert_eq!(stride(MEASURED, 1_000_000_000), 1);
        assert_eq!(stride(MEASURED, 10_000_000), 1);
        assert_eq!(stride(0, 1), 1);
    }

    #[test]
    fn of_many_hooks_about_as_many_are_native_in_each_second() {
        for per_second in [2_000_000u64, 50_000_000, 1_000_000_000] {
            let stride = stride(per_second / 100, 10_000_000);
            let native = per_second / stride;
            assert!((400_000..=1_000_000).contains(&native), "{native}");
        }
    }
}
