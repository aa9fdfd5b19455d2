//! Waiting for a JVM, never for ever.

use crate::interrupt;
use oracle::report::Exit;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

/// How long a JVM may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);

/// How often `tick` is called.
const TICK: Duration = Duration::from_millis(250);

/// Starts a JVM that ends when we end, however that comes about.
pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Child> {
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

/// Waits for `child` until it ends or `deadline` has passed, calling `tick` meanwhile.
///
/// A user's program (`foreground`) gets the signals that the user sends, and decides itself
/// what it does with them; others are ended when we are interrupted.
pub(crate) fn wait(
    child: &mut Child,
    deadline: Option<Duration>,
    foreground: bool,
    tick: &mut dyn FnMut(Duration),
) -> Exit {
    let start = Instant::now();
    let mut next_tick = TICK;
    let mut asked_at = None;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(_)) if asked_at.is_some() && !foreground => return Exit::Interrupted,
            Ok(Some(status)) => {
                return match (status.code(), status.signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, signal) => Exit::Signal(signal.unwrap_or(0)),
                };
            }
            Ok(None) => {}
            Err(e) => return Exit::NotStarted(e.to_string()),
        }
        let now = start.elapsed();
        if deadline.is_some_and(|deadline| now > deadline) {
            return end(child, Exit::Deadline);
        }
        if asked_at.is_some_and(|at| now - at > GRACE) {
            return end(child, Exit::Interrupted);
        }
        if let Some(signal) = interrupt::noted().filter(|_| asked_at.is_none()) {
            if foreground {
                pass_on(child);
            } else {
                send(child, libc::SIGTERM);
            }
            // A program may handle Ctrl-C and go on, as a shell does.
            if !foreground || signal != libc::SIGINT {
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

fn pass_on(child: &Child) {
    if let Some(signal) = interrupt::to_pass_on() {
        send(child, signal);
    }
}

fn end(child: &mut Child, exit: Exit) -> Exit {
    // Killed by its handle: until it was waited for, its number is nobody else's.
    let _ = child.kill();
    let _ = child.wait();
    exit
}

fn send(child: &Child, signal: i32) {
    // SAFETY: kill takes no pointers, and a child not yet waited for keeps its number.
    unsafe {
        libc::kill(child.id() as libc::pid_t, signal);
    }
}
