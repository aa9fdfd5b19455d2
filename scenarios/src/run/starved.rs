//! How long a program had no processor.
//!
//! A deadline ends what hangs. On a machine that has other work a program is late without hanging: a thread that runs one
//! instruction at a time got 3 s of a processor in 220 s at a load of 34. The kernel counts for each thread how long it was
//! ready to run and waited (`/proc/PID/task/TID/schedstat`, second field, in nanoseconds; Documentation/scheduler/sched-stats). This time
//! is not the program's. A thread that waits for a lock is not ready, so it is no time of a deadlock's.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How often the kernel is asked.
const PERIOD: Duration = Duration::from_secs(1);

/// However little of the machine a program has, its deadline becomes at most so many times as long.
const MOST: u32 = 10;

/// The time for which a process was starved so far.
#[derive(Debug, Default)]
pub(super) struct Starved {
    total: Duration,
    looked: Duration,
    waited: HashMap<String, u64>,
}

impl Starved {
    /// Whether `deadline` is over for a process that has run for `now`. `pid` finds its id.
    pub fn is_over(
        &mut self,
        deadline: Duration,
        pid: impl FnOnce() -> u32,
        now: Duration,
    ) -> bool {
        if now >= self.looked + PERIOD {
            self.looked = now;
            self.look(Path::new(&format!("/proc/{}/task", pid())), now);
        }
        now > deadline + self.total.min(deadline * (MOST - 1))
    }

    /// Adds what the thread that waited longest has waited since the last look. Threads that are ready at the same time wait at the same
    /// time, so their waits are not added.
    fn look(&mut self, tasks: &Path, now: Duration) {
        let Ok(threads) = fs::read_dir(tasks) else {
            return;
        };
        let mut longest = 0;
        let mut waited = HashMap::new();
        for thread in threads.flatten() {
            let Some(waits) = waits(&thread.path()) else {
                continue;
            };
            let id = thread.file_name().to_string_lossy().into_owned();
            let before = self.waited.get(&id).copied().unwrap_or(0);
            longest = longest.max(waits.saturating_sub(before));
            waited.insert(id, waits);
        }
        self.waited = waited;
        self.total = (self.total + Duration::from_nanos(longest)).min(now);
    }
}

/// How long a thread has waited for a processor, in nanoseconds; `None` if the kernel does not say.
fn waits(thread: &Path) -> Option<u64> {
    let text = fs::read_to_string(thread.join("schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Threads that have waited so many seconds.
    fn tasks(waits: &[(u32, u64)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (id, seconds) in waits {
            let thread = dir.path().join(id.to_string());
            fs::create_dir(&thread).unwrap();
            let text = format!("123 {} 7\n", seconds * 1_000_000_000);
            fs::write(thread.join("schedstat"), text).unwrap();
        }
        dir
    }

    #[test]
    fn waits_at_the_same_time_are_not_added() {
        let mut starved = Starved::default();
        starved.look(tasks(&[(1, 5), (2, 7)]).path(), 100 * SECOND);
        assert_eq!(starved.total, 7 * SECOND);
        starved.look(tasks(&[(1, 9), (2, 8), (3, 1)]).path(), 100 * SECOND);
        assert_eq!(starved.total, 11 * SECOND);
    }

    #[test]
    fn nobody_waits_longer_than_time_has_passed() {
        let mut starved = Starved::default();
        starved.look(tasks(&[(1, 500)]).path(), 100 * SECOND);
        assert_eq!(starved.total, 100 * SECOND);
    }

    #[test]
    fn a_starved_program_gets_its_time_and_a_deadlock_does_not() {
        let deadline = 10 * SECOND;
        let starved = |total| Starved {
            total,
            looked: 1000 * SECOND,
            ..Starved::default()
        };
        assert!(starved(Duration::ZERO).is_over(deadline, || 0, 11 * SECOND));
        assert!(!starved(8 * SECOND).is_over(deadline, || 0, 11 * SECOND));
        assert!(starved(8 * SECOND).is_over(deadline, || 0, 19 * SECOND));
        assert!(starved(900 * SECOND).is_over(deadline, || 0, 101 * SECOND));
    }

    #[test]
    fn this_process_is_read() {
        let mut starved = Starved::default();
        starved.look(Path::new("/proc/self/task"), SECOND);
        assert!(!starved.waited.is_empty() || !Path::new("/proc/self/schedstat").exists());
    }
}
