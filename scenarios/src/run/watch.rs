//! Waiting for a JVM, never for ever.

use super::hang;
use crate::process::{Ended, Process, interrupt};
use oracle::cost::Effort;
use oracle::report::Exit;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a JVM may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);

/// How often `tick` is called.
const TICK: Duration = Duration::from_millis(250);

/// What is watched for.
pub(crate) struct Watch<'a> {
    /// After this time the target hangs.
    pub deadline: Option<Duration>,
    /// A user's program gets the signals that the user sends, and decides itself what it
    /// does with them; others are ended when we are interrupted.
    pub foreground: bool,
    /// Where a dump of a hanging target goes.
    pub dir: &'a Path,
    /// The target's `jcmd`.
    pub jcmd: &'a Path,
}

/// How a JVM ended, and what it took until then, if it could be started.
#[derive(Debug)]
pub(crate) struct Ending {
    pub exit: Exit,
    pub effort: Option<Effort>,
}

impl Ending {
    /// It could not be started.
    pub fn not_started(error: &io::Error) -> Ending {
        Ending {
            exit: Exit::NotStarted(error.to_string()),
            effort: None,
        }
    }
}

impl Watch<'_> {
    /// Waits for `process` until it ends or the deadline has passed, calling `tick` meanwhile.
    pub fn wait(&self, process: &mut Process, tick: &mut dyn FnMut(Duration)) -> Ending {
        let start = Instant::now();
        let exit = self.wait_for_exit(process, tick);
        let wall_s = start.elapsed().as_secs_f64();
        // Whoever was ended by us was waited for too.
        let ended = process.try_wait().ok().flatten();
        let effort = ended.map(|ended| Effort {
            cpu_s: ended.cpu.as_secs_f64(),
            wall_s,
        });
        Ending { exit, effort }
    }

    fn wait_for_exit(&self, process: &mut Process, tick: &mut dyn FnMut(Duration)) -> Exit {
        let start = Instant::now();
        let mut next_tick = TICK;
        let mut asked_at = None;
        let mut pause = Duration::from_millis(1);
        loop {
            match process.try_wait() {
                Ok(Some(_)) if !self.foreground && interrupt::noted().is_some() => {
                    return Exit::Interrupted;
                }
                Ok(Some(Ended { status, .. })) => {
                    return match status.code() {
                        Some(code) => Exit::Code(code),
                        None => Exit::Signal(status.signal().unwrap_or(0)),
                    };
                }
                Ok(None) => {}
                Err(e) => return Exit::NotStarted(e.to_string()),
            }
            let now = start.elapsed();
            if asked_at.is_some_and(|at| now - at > GRACE) {
                end(process);
                return Exit::Interrupted;
            }
            if self.deadline.is_some_and(|deadline| now > deadline) {
                hang::dump(process.id(), self.jcmd, self.dir);
                end(process);
                return Exit::Deadline;
            }
            if let Some(signal) = interrupt::noted().filter(|_| asked_at.is_none()) {
                self.pass_on(process);
                // A program may handle Ctrl-C and go on, as a shell does.
                if !self.foreground || signal != libc::SIGINT {
                    asked_at = Some(now);
                }
            }
            if now > next_tick {
                tick(now);
                next_tick = now + TICK;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(40));
        }
    }

    fn pass_on(&self, process: &Process) {
        let missed = interrupt::to_pass_on();
        let signal = if self.foreground {
            missed
        } else {
            Some(libc::SIGTERM)
        };
        if let Some(signal) = signal {
            process.signal(signal);
        }
    }
}

/// It cannot be helped if this fails: the run is over either way.
fn end(process: &mut Process) {
    let _ = process.kill();
}
