//! Deadlines for tests.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits on a quiet and fast machine.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// The largest factor for slow machines: half an hour instead of five minutes.
const MOST: f64 = 6.0;

/// The number of programs that are started to measure the machine's speed, and the time of all of
/// them on a quiet machine.
const STARTS: u32 = 8;
const STARTS_TAKE: Duration = Duration::from_millis(16);

/// A time after which a test counts as hanging.
#[derive(Clone, Debug)]
pub struct Deadline {
    what: String,
    patience: Duration,
    start: Instant,
}

impl Deadline {
    /// The usual deadline for `what`, a short text for the message: 5 minutes on a quiet machine,
    /// up to 30 on a busy one.
    pub fn new(what: impl Into<String>) -> Deadline {
        Deadline::of(what, PATIENCE)
    }

    /// A deadline for `what` that lasts `patience` on a quiet machine, and up to six times as long
    /// on a busy one.
    pub fn of(what: impl Into<String>, patience: Duration) -> Deadline {
        // The speed is measured before the wait, and not during the wait.
        speed();
        Deadline {
            what: what.into(),
            patience,
            start: Instant::now(),
        }
    }

    /// The message if the deadline has passed, and `None` before.
    ///
    /// The machine's current load counts, so a machine that gets busy later delays the deadline.
    pub fn passed(&self) -> Option<String> {
        let waited = self.start.elapsed();
        if waited < self.patience {
            return None;
        }
        let (speed, load) = (speed(), load());
        let factor = speed.max(load).clamp(1.0, MOST);
        (waited >= self.patience.mul_f64(factor)).then(|| {
            format!(
                "{} did not end within its deadline of {:.0} s: {:.0} s, times {factor:.1} for this \
                 machine ({speed:.1} by the time that starting programs takes, {load:.1} by the \
                 load of each core)",
                self.what,
                self.patience.as_secs_f64() * factor,
                self.patience.as_secs_f64(),
            )
        })
    }

    /// Fails the test if the deadline has passed.
    #[track_caller]
    pub fn check(&self) {
        if let Some(message) = self.passed() {
            panic!("{message}");
        }
    }
}

/// Asks `done` again and again until it has an answer; fails the test after the usual deadline for
/// `what`.
#[track_caller]
pub fn until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let deadline = Deadline::new(what);
    loop {
        if let Some(answer) = done() {
            return answer;
        }
        deadline.check();
        thread::sleep(Duration::from_millis(10));
    }
}

/// The time to start programs as a multiple of that on a quiet machine, measured once per process.
fn speed() -> f64 {
    static SPEED: OnceLock<f64> = OnceLock::new();
    *SPEED.get_or_init(|| {
        let start = Instant::now();
        for _ in 0..STARTS {
            let _ = Command::new("true").stdin(Stdio::null()).status();
        }
        start.elapsed().as_secs_f64() / STARTS_TAKE.as_secs_f64()
    })
}

/// The average number of threads that each core had to run in the last minute; 0 if it is not
/// known.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Option<f64> = text.split(' ').next().and_then(|load| load.parse().ok());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    load.unwrap_or_default() / cores as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_has_passed_names_the_wait() {
        let deadline = Deadline::of("the long job", Duration::ZERO);
        let message = deadline.passed().expect("no time is always over");
        assert!(message.starts_with("the long job did not end"), "{message}");
        assert_eq!(Deadline::new("the short job").passed(), None);
    }

    #[test]
    fn waiting_ends_with_the_answer() {
        let mut left = 3;
        let answer = until("the countdown", || {
            left -= 1;
            (left == 0).then_some("done")
        });
        assert_eq!(answer, "done");
    }
}
