//! A child process and its descendants.

use super::guard::Guard;
use super::{leftovers, tree};
use oracle::record::CLAIM_FILE;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long a killed process may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A child process and its descendants. The standard library's `Child` has no CPU time.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Group,
    /// The file with which a JVM claims the run.
    claim: Option<PathBuf>,
    /// When the child started, as `/proc` has it.
    started: u64,
    ended: Option<Ended>,
    /// Ends the child if this process is killed.
    _guard: Option<Guard>,
}

/// The process group of a child.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(crate) enum Group {
    /// A new group, which signals of the terminal do not reach.
    Own,
    /// The group of a new session, which the command of [`setsid::command`] makes.
    Session,
    /// The group of this process: a program that has the terminal gets the terminal's signals, and
    /// may read from the terminal.
    Shared,
}

/// How a process ended.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Ended {
    pub status: ExitStatus,
    /// User and system time, with that of the children for which the process waited, in steps of
    /// the clock tick (proc(5)), mostly 10 ms.
    pub cpu: Duration,
}

impl Process {
    /// Starts a helper in a new process group. The child ends when this process ends, also if this
    /// process is killed.
    pub fn spawn(command: &mut Command) -> io::Result<Process> {
        Process::start(command, Group::Own, None)
    }

    /// Starts the program of the run in `dir`. If the group is new, all its processes end when this
    /// process ends, and so does the JVM that claims the run.
    pub fn spawn_run(command: &mut Command, group: Group, dir: &Path) -> io::Result<Process> {
        Process::start(command, group, Some(dir.join(CLAIM_FILE)))
    }

    fn start(command: &mut Command, group: Group, claim: Option<PathBuf>) -> io::Result<Process> {
        if group == Group::Own {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let started = tree::any_entry(child.id()).map_or(0, |entry| entry.started);
        let mut process = Process {
            started,
            child,
            group,
            claim,
            ended: None,
            _guard: None,
        };
        let guard = Guard::new(
            (process.id(), started),
            process.own_group(),
            process.claim.as_deref(),
        );
        match guard {
            Ok(guard) => process._guard = Some(guard),
            Err(error) => {
                process.end(Path::new("/"));
                return Err(error);
            }
        }
        Ok(process)
    }

    /// The child's process id. No other process gets the id before `try_wait` has seen the child's
    /// end.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The JVM of the run, if it has claimed the run and has not ended. `bin/java` may be a script
    /// that starts the JVM.
    pub fn jvm(&self) -> Option<u32> {
        let jvm = tree::entry(self.claimed()?)?;
        // Not another process that got the id later.
        let is_ours = jvm.is_of_our_session() || jvm.session == self.id();
        (is_ours && jvm.started >= self.started).then_some(jvm.pid)
    }

    /// The JVM that has claimed the run, whether it has ended or not.
    pub fn claimed(&self) -> Option<u32> {
        let claim = fs::read_to_string(self.claim.as_ref()?).ok()?;
        claim.trim().parse().ok()
    }

    fn own_group(&self) -> Option<u32> {
        (self.group != Group::Shared).then(|| self.id())
    }

    /// The child and the JVM, if they are still running.
    fn roots(&self) -> Vec<u32> {
        let child = self.ended.is_none().then(|| self.id());
        let jvm = self.jvm().filter(|&jvm| Some(jvm) != child);
        child.into_iter().chain(jvm).collect()
    }

    /// All running processes that belong to the child, and the child.
    fn all(&self) -> Vec<u32> {
        tree::below(&self.roots(), self.own_group())
    }

    /// The child's output, if the output is piped. The second call returns `None`.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// How the child ended, if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        if self.ended.is_some() {
            return Ok(self.ended);
        }
        // While the child is a zombie, `/proc` still has its CPU time.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let id = WaitId::Pid(Pid::from_child(&self.child));
        if rustix::io::retry_on_intr(|| waitid(id.clone(), options))?.is_none() {
            return Ok(None);
        }
        let ticks = tree::any_entry(self.id()).map_or(0, |entry| entry.cpu);
        let second = rustix::param::clock_ticks_per_second();
        self.ended = Some(Ended {
            status: self.child.wait()?,
            cpu: Duration::from_secs_f64(ticks as f64 / second as f64),
        });
        Ok(self.ended)
    }

    /// Ends the child and all that belongs to it. Returns those that could not be ended.
    ///
    /// `work` is the folder in which a JVM among them runs.
    pub fn end(&mut self, work: &Path) -> Vec<u32> {
        let start = Instant::now();
        let mut killed = vec![];
        loop {
            let left = self.all();
            killed.extend(
                left.iter()
                    .filter(|pid| !killed.contains(*pid))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            send(&left, Signal::KILL);
            // A failure is ignored: the run is over in any case.
            let _ = self.try_wait();
            if left.is_empty() || start.elapsed() > PATIENCE {
                killed.retain(|pid| !left.contains(pid));
                killed.iter().for_each(|&pid| leftovers::remove(pid, work));
                return left;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends what is left in the child's own group after the child has ended, and removes the files
    /// of a JVM that was killed. Returns the processes that could not be ended.
    pub fn tidy(&mut self, work: &Path) -> Vec<u32> {
        let left = match self.group {
            Group::Own | Group::Session => self.end(work),
            Group::Shared => vec![],
        };
        if let Some(jvm) = self.claimed().filter(|_| self.jvm().is_none()) {
            leftovers::remove(jvm, work);
        }
        left
    }

    /// Sends a signal to the child's group if the group is new; else to the child and to the JVM
    /// that the child may have started.
    pub fn signal(&self, signal: Signal) {
        let all = match self.group {
            Group::Own | Group::Session => self.all(),
            Group::Shared => self.roots(),
        };
        send(&all, signal);
    }

    /// Asks the JVM for a dump of its threads, as SIGQUIT does.
    pub fn quit(&self) {
        let last = self.roots().pop();
        send(last.as_slice(), Signal::QUIT);
    }
}

fn send(processes: &[u32], signal: Signal) {
    let known = processes.iter();
    for pid in known.filter_map(|&pid| Pid::from_raw(pid.try_into().ok()?)) {
        // A process that has just ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    fn end_of(script: &str) -> Ended {
        let mut process = Process::spawn(Command::new("sh").args(["-c", script])).unwrap();
        loop {
            if let Some(ended) = process.try_wait().unwrap() {
                assert!(process.end(Path::new("/")).is_empty());
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
    fn a_child_that_would_run_on_is_ended() {
        let mut process = Process::spawn(Command::new("sleep").arg("600")).unwrap();
        assert!(process.try_wait().unwrap().is_none());
        assert!(process.end(Path::new("/")).is_empty());
        let ended = process.try_wait().unwrap().unwrap();
        assert_eq!(ended.status.signal(), Some(Signal::KILL.as_raw()));
    }

    #[test]
    fn what_a_child_has_started_is_ended_with_it() {
        // The grandchild of the first script outlives the child, that of the second does not.
        for script in ["sleep 600 & echo", "sleep 600; echo"] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdout(Stdio::null());
            let mut process = Process::spawn(&mut command).unwrap();
            let start = Instant::now();
            let sleeps = |pid: u32| {
                let command = fs::read(format!("/proc/{pid}/cmdline"));
                command.is_ok_and(|command| command.starts_with(b"sleep"))
            };
            let grandchild = loop {
                if let Some(pid) = process.all().into_iter().find(|&pid| sleeps(pid)) {
                    break pid;
                }
                assert!(start.elapsed() < Duration::from_secs(300), "no grandchild");
            };
            assert!(process.end(Path::new("/")).is_empty());
            assert!(tree::entry(grandchild).is_none());
        }
    }
}
