//! Waits for a JVM, with deadlines.

use super::hang;
use super::starved::Starved;
use crate::process::interrupt::{self, Sender};
use crate::process::{Ended, Process};
use oracle::cost::Effort;
use oracle::report::Exit;
use rustix::process::Signal;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

/// How long a JVM may take to end after a request to end.
const GRACE: Duration = Duration::from_secs(10);

/// How often `tick` is called.
const TICK: Duration = Duration::from_millis(250);

/// The conditions of the wait.
pub(crate) struct Watch<'a> {
    /// After this time the JVM counts as hung. Time for which it had no processor does not count.
    pub deadline: Option<Duration>,
    /// A user's program gets the signals that the user sends, and decides what to do. Other
    /// programs are ended when the user interrupts.
    pub foreground: bool,
    /// The folder in which the program runs.
    pub work: &'a Path,
    /// The folder for a dump of a hanging JVM.
    pub dir: &'a Path,
    /// The JDK's `jcmd`.
    pub jcmd: &'a Path,
}

/// How a JVM ended, and what its run cost.
#[derive(Debug)]
pub(crate) struct Ending {
    pub exit: Exit,
    /// How long the JVM was waited for, in seconds.
    pub wall_s: f64,
    /// `None` if the JVM has not ended, although it was killed.
    pub effort: Option<Effort>,
    /// Processes that could not be ended.
    pub alive: Vec<u32>,
    /// The process of the JVM, which has ended.
    pub jvm: Option<u32>,
}

impl Ending {
    /// The ending of a JVM that could not be started.
    pub fn not_started(error: &io::Error) -> Ending {
        Ending {
            exit: Exit::NotStarted(error.to_string()),
            wall_s: 0.0,
            effort: None,
            alive: vec![],
            jvm: None,
        }
    }
}

impl Watch<'_> {
    /// Waits for `process` until it ends or the deadline has passed, calling `tick` meanwhile.
    /// Afterwards no process of it runs, except those that cannot be ended, and the files that a
    /// killed JVM leaves are removed.
    pub fn wait(&self, process: &mut Process, tick: &mut dyn FnMut(Duration)) -> Ending {
        let start = Instant::now();
        let end = self.wait_for_end(process, tick);
        let alive = match end {
            End::Itself(_) => process.tidy(self.work),
            End::Hang | End::Ignored => process.end(self.work),
        };
        let wall_s = start.elapsed().as_secs_f64();
        // A process that was ended here was waited for too.
        let ended = process.try_wait().ok().flatten();
        let effort = ended.map(|ended| Effort {
            cpu_s: ended.cpu.as_secs_f64(),
            wall_s,
        });
        let jvm = process.claimed().unwrap_or(process.id());
        let exit = match end {
            End::Itself(status) => self.exit(status, jvm != process.id()),
            End::Hang => Exit::Deadline,
            End::Ignored => Exit::Interrupted,
        };
        Ending {
            exit,
            wall_s,
            effort,
            alive,
            jvm: Some(jvm),
        }
    }

    fn wait_for_end(&self, process: &mut Process, tick: &mut dyn FnMut(Duration)) -> End {
        let start = Instant::now();
        let mut next_tick = TICK;
        let mut starved = Starved::default();
        let mut asked_at = None;
        let mut pause = Duration::from_millis(1);
        loop {
            // A script that started the JVM may end before the JVM.
            if let Ok(Some(Ended { status, .. })) = process.try_wait()
                && process.jvm().is_none()
            {
                return End::Itself(status);
            }
            let now = start.elapsed();
            if asked_at.is_some_and(|at| now - at > GRACE) {
                return End::Ignored;
            }
            let jvm = || process.jvm().unwrap_or(process.id());
            if self
                .deadline
                .is_some_and(|deadline| starved.is_over(deadline, jvm, now))
            {
                let jvm = jvm();
                hang::dump(jvm, self.jcmd, self.dir);
                return End::Hang;
            }
            if let Some(signal) = interrupt::noted().filter(|_| asked_at.is_none()) {
                self.pass_on(process);
                // A program may handle Ctrl-C and continue, as a shell does.
                if !self.foreground || signal != Signal::INT {
                    asked_at = Some(now);
                }
            }
            // A program in the foreground gets the terminal's signal too.
            if let Some(sender) = interrupt::quit()
                && !(self.foreground && sender == Sender::Terminal)
            {
                process.quit();
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
            Some(Signal::TERM)
        };
        if let Some(signal) = signal {
            process.signal(signal);
        }
    }

    /// The exit of a process. `script`: the process is a script that started the JVM and waited for
    /// its end.
    fn exit(&self, status: ExitStatus, script: bool) -> Exit {
        if !self.foreground && interrupt::noted().is_some() {
            return Exit::Interrupted;
        }
        let asked_to_end = [Signal::HUP, Signal::INT, Signal::TERM].map(Signal::as_raw);
        match (status.code(), status.signal()) {
            // The exit code of a JVM that a signal asked to end (HotSpot, `Terminator.java`).
            (Some(code), _) if asked_to_end.contains(&(code - 128)) => Exit::Interrupted,
            // The signal that ended the JVM, in a shell's form.
            (Some(code), _) if script && (129..160).contains(&code) => Exit::Signal(code - 128),
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) if asked_to_end.contains(&signal) => Exit::Interrupted,
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        }
    }
}

/// Why the wait is over.
enum End {
    /// The program ended.
    Itself(ExitStatus),
    /// The deadline has passed.
    Hang,
    /// The program did not end after a request to end.
    Ignored,
}
