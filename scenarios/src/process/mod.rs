//! Child processes: their start, their end, the CPU time that they took.

pub mod interrupt;
mod output;

pub(crate) use output::output;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::time::Duration;

/// A child process. The standard library's own tells no CPU time.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    ended: Option<Ended>,
}

/// How a process ended.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Ended {
    pub status: ExitStatus,
    /// User and system time, with that of the children that it waited for (`getrusage(2)`).
    pub cpu: Duration,
}

impl Process {
    /// Starts one that ends when we end, however that comes about.
    pub fn spawn(command: &mut Command) -> io::Result<Process> {
        #[cfg(target_os = "linux")]
        // SAFETY: prctl is async-signal-safe, as what runs between fork and exec must be.
        unsafe {
            use std::os::unix::process::CommandExt;
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let child = command.spawn()?;
        Ok(Process { child, ended: None })
    }

    /// Its number, which is nobody else's until its end was seen.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its output, if that is piped; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        self.wait(libc::WNOHANG)
    }

    /// Ends it, unless it has ended.
    pub fn kill(&mut self) -> io::Result<Option<Ended>> {
        if self.ended.is_none() {
            self.signal(libc::SIGKILL);
        }
        self.wait(0)
    }

    /// Sends it a signal, unless it has ended.
    pub fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            // SAFETY: kill takes no pointers, and a child not yet waited for keeps its number.
            unsafe { libc::kill(self.id() as libc::pid_t, signal) };
        }
    }

    fn wait(&mut self, options: i32) -> io::Result<Option<Ended>> {
        if self.ended.is_some() {
            return Ok(self.ended);
        }
        let mut status = 0;
        // SAFETY: zero is a valid rusage; the kernel writes to both.
        let (id, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let id = loop {
                let id = libc::wait4(self.id() as libc::pid_t, &mut status, options, &mut usage);
                if id != -1 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    break id;
                }
            };
            (id, usage)
        };
        match id {
            -1 => return Err(io::Error::last_os_error()),
            0 => return Ok(None),
            _ => {}
        }
        self.ended = Some(Ended {
            status: ExitStatus::from_raw(status),
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        });
        Ok(self.ended)
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, 1000 * time.tv_usec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(script: &str) -> Ended {
        let mut process = Process::spawn(Command::new("sh").args(["-c", script])).unwrap();
        loop {
            if let Some(ended) = process.try_wait().unwrap() {
                assert_eq!(process.kill().unwrap().unwrap().status, ended.status);
                return ended;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn cpu_time_is_that_of_the_process() {
        let idle = end_of("sleep 0.3; exit 7");
        assert_eq!(idle.status.code(), Some(7));
        let busy = end_of("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
        assert!(busy.cpu > idle.cpu, "{busy:?} {idle:?}");
    }

    #[test]
    fn one_that_would_run_on_is_ended() {
        let mut process = Process::spawn(Command::new("sleep").arg("600")).unwrap();
        assert!(process.try_wait().unwrap().is_none());
        let ended = process.kill().unwrap().unwrap();
        assert_eq!(ended.status.signal(), Some(libc::SIGKILL));
    }
}
