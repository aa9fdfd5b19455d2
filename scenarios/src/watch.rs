//! Waiting for a JVM, never for ever.

use crate::{hang, interrupt};
use oracle::report::Exit;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
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

/// Starts a JVM that ends when we end, however that comes about.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl is async-signal-safe, as what runs between fork and exec must be.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    command.spawn()
}

/// Runs a helper to its end and returns its output; fails if it fails or takes too long.
pub(crate) fn output(mut command: Command, patience: Duration) -> io::Result<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = spawn(&mut command)?;
    let mut stdout = child.stdout.take().expect("it is piped");
    let reader = thread::spawn(move || {
        let mut text = vec![];
        stdout
            .read_to_end(&mut text)
            .map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return match status.success() {
                true => reader
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("its output was lost"))),
                false => Err(io::Error::other(format!("it ended with {status}"))),
            };
        }
        thread::sleep(Duration::from_millis(10));
    }
    end(&mut child);
    Err(io::Error::other(format!(
        "it did not end within {} s",
        patience.as_secs()
    )))
}

impl Watch<'_> {
    /// Waits for `child` until it ends or the deadline has passed, calling `tick` meanwhile.
    pub fn wait(&self, child: &mut Child, tick: &mut dyn FnMut(Duration)) -> Exit {
        let start = Instant::now();
        let mut next_tick = TICK;
        let mut asked_at = None;
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(Some(_)) if !self.foreground && interrupt::noted().is_some() => {
                    return Exit::Interrupted;
                }
                Ok(Some(status)) => {
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
                end(child);
                return Exit::Interrupted;
            }
            if self.deadline.is_some_and(|deadline| now > deadline) {
                hang::dump(child.id(), self.jcmd, self.dir);
                end(child);
                return Exit::Deadline;
            }
            if let Some(signal) = interrupt::noted().filter(|_| asked_at.is_none()) {
                self.pass_on(child);
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

    fn pass_on(&self, child: &Child) {
        let missed = interrupt::to_pass_on();
        let signal = if self.foreground {
            missed
        } else {
            Some(libc::SIGTERM)
        };
        if let Some(signal) = signal {
            // SAFETY: kill takes no pointers, and a child not yet waited for keeps its number.
            unsafe {
                libc::kill(child.id() as libc::pid_t, signal);
            }
        }
    }
}

/// Killed by its handle: until it was waited for, its number is nobody else's.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
