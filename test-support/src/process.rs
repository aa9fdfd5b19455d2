//! Child processes under a deadline.

use crate::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest pause before the deadline of a process is looked at again.
const PAUSE: Duration = Duration::from_millis(10);

/// The result of a process.
#[derive(Debug)]
pub struct Output {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// The output of a process that must have exited with this code.
    #[track_caller]
    pub fn ended(self, code: i32) -> Output {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The standard output of a process that must have exited with 0.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// Runs `command` without input to its end; fails the test after the usual deadline.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    run_with(command, "")
}

/// Runs `command` with `input` to its end; fails the test after the usual deadline.
#[track_caller]
pub fn run_with(command: &mut Command, input: &str) -> Output {
    let deadline = Deadline::new(format!("{command:?}"));
    run_until(command, input, &deadline)
}

/// Runs `command` with `input` to its end; kills it and fails the test after `deadline`.
#[track_caller]
pub fn run_until(command: &mut Command, input: &str, deadline: &Deadline) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    // A process that does not read its input may have ended already.
    let _ = child
        .stdin
        .take()
        .expect("it is piped")
        .write_all(input.as_bytes());
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let code = wait(&mut child, deadline);
    Output {
        code,
        stdout: stdout.join().expect("the reader does not panic"),
        stderr: stderr.join().expect("the reader does not panic"),
    }
}

/// Waits for the end of `child` and returns its exit code, or `None` if a signal ended it; kills
/// it and fails the test after `deadline`.
#[track_caller]
pub fn wait(child: &mut Child, deadline: &Deadline) -> Option<i32> {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status.code();
        }
        if let Some(message) = deadline.passed() {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{message}");
        }
        pause(end.as_ref());
    }
}

/// A pause that the end of a process ends. Without a file for its `end` (kernels before 5.3) the pause has its
/// full length.
fn pause(end: Option<&OwnedFd>) {
    let most = Timespec::try_from(PAUSE).expect("the pause is short");
    let polled = end.map(|end| poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&most)));
    if !matches!(polled, Some(Ok(_))) {
        thread::sleep(PAUSE);
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    let mut stream = stream.expect("it is piped");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
