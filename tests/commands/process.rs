//! The processes of a run: all of them end with the run, and signals reach the JVM, also where
//! `bin/java` is a script that starts the JVM.

use crate::support::{Deadline, jdks, report, run, stackwitness, until, wait};
use oracle::gate::{Rule, decide};
use oracle::report::Exit;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A program that waits to be ended.
const PROGRAM: &str = r#"
    public class Waits {
        static int work(int n) { return n % 3; }
        public static void main(String[] args) throws Exception {
            int sum = 0;
            for (int i = 0; i < 100_000; i++) sum += work(i);
            System.out.println("waits " + sum);
            while (true) Thread.sleep(50);
        }
    }
"#;

/// Compiled programs, and a JDK whose `java` is a script.
struct Place {
    dir: tempfile::TempDir,
    jdk: PathBuf,
}

/// A place for each JDK that has a compiler.
fn places() -> Vec<Place> {
    let compiled = jdks().into_iter().filter_map(|jdk| {
        let javac = jdk.join("bin/javac");
        if !javac.exists() {
            println!("skipped: {} has no compiler", jdk.display());
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("Waits.java");
        fs::write(&source, PROGRAM).unwrap();
        run(Command::new(javac).arg("-d").arg(dir.path()).arg(source)).ok();
        Some(Place {
            jdk: wrapped(&jdk, dir.path()),
            dir,
        })
    });
    compiled.collect()
}

/// A home of the JDK in which `bin/java` is a script that waits for the JVM.
fn wrapped(jdk: &Path, dir: &Path) -> PathBuf {
    let home = dir.join("jdk");
    fs::create_dir_all(home.join("bin")).unwrap();
    for name in ["lib", "release", "conf"] {
        symlink(jdk.join(name), home.join(name)).unwrap();
    }
    symlink(jdk.join("bin/jcmd"), home.join("bin/jcmd")).unwrap();
    let java = home.join("bin/java");
    fs::write(
        &java,
        format!("#!/bin/sh\n{}/bin/java \"$@\"\nexit $?\n", jdk.display()),
    )
    .unwrap();
    fs::set_permissions(&java, Permissions::from_mode(0o755)).unwrap();
    home
}

/// Whether the program has the terminal (`run -- JAVA_ARGS`) or is one of a scenario.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Kind {
    Users,
    Scenario,
}

impl Place {
    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn start(&self, kind: Kind, deadline: &str) -> Child {
        // Files of an earlier run must not count for this run.
        let _ = fs::remove_dir_all(self.out());
        let classes = self.dir.path().display();
        let mut tool = stackwitness();
        tool.args(["run", "--jdk"]).arg(&self.jdk);
        tool.arg("--out").arg(self.out());
        match kind {
            Kind::Users => {
                tool.args(["--deadline", deadline, "--", "-cp"])
                    .arg(self.dir.path());
                tool.arg("Waits");
            }
            Kind::Scenario => {
                let file = self.dir.path().join("x.toml");
                let text = format!(
                    "name = 'x'\n[[program]]\nname = 'program'\njava = ['-cp', '{classes}', 'Waits']\n\
                     deadline_s = {deadline}\n"
                );
                fs::write(&file, text).unwrap();
                tool.arg("--scenario").arg(file);
            }
        }
        let log = |name| fs::File::create(self.dir.path().join(name)).unwrap();
        tool.stdin(Stdio::null());
        tool.stdout(log("stdout")).stderr(log("stderr"));
        tool.spawn().unwrap()
    }

    /// The JVM, once its program is waiting.
    fn jvm(&self, kind: Kind) -> u32 {
        let run = self.out().join("runs/001-program");
        until("the start of the program", || {
            let output = fs::read_to_string(self.output(kind)).unwrap_or_default();
            let pid = fs::read_to_string(run.join("jvm.pid")).unwrap_or_default();
            pid.trim()
                .parse()
                .ok()
                .filter(|_| output.contains("waits "))
        })
    }

    /// The file with the program's output.
    fn output(&self, kind: Kind) -> PathBuf {
        match kind {
            Kind::Users => self.dir.path().join("stdout"),
            Kind::Scenario => self.out().join("runs/001-program/stdout.txt"),
        }
    }
}

fn send(signal: &str, pid: u32) {
    run(Command::new("kill").args([signal, &pid.to_string()])).ok();
}

fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// Files that a killed JVM may leave.
fn leftovers(pid: u32) -> Vec<PathBuf> {
    let folders = fs::read_dir("/tmp").unwrap().flatten();
    let counters = folders.map(|folder| folder.path().join(pid.to_string()));
    let sockets = [".java_pid", ".attach_pid"].map(|name| format!("/tmp/{name}{pid}").into());
    let files = counters.chain(sockets);
    files.filter(|file| file.exists()).collect()
}

#[test]
fn the_deadline_ends_the_jvm_behind_a_script() {
    // Side by side, because each takes as long as its deadline.
    thread::scope(|scope| {
        for kind in [Kind::Users, Kind::Scenario] {
            for place in places() {
                scope.spawn(move || hang(&place, kind));
            }
        }
    });
}

fn hang(place: &Place, kind: Kind) {
    let mut tool = place.start(kind, "20");
    let jvm = place.jvm(kind);
    let code = wait(&mut tool, &Deadline::new("the run"));
    assert_eq!(code, Some(4), "{kind:?}");
    assert!(is_gone(jvm), "{kind:?}");
    assert_eq!(leftovers(jvm), Vec::<PathBuf>::new(), "{kind:?}");
    // The script has no Java threads; the JVM has.
    let threads = place.out().join("runs/001-program/threads.txt");
    let threads = fs::read_to_string(threads).unwrap();
    assert!(threads.contains("\"main\""), "{threads}");
}

#[test]
fn signals_end_the_jvm_behind_a_script() {
    for place in places() {
        for kind in [Kind::Users, Kind::Scenario] {
            for (signal, ended) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
                let mut tool = place.start(kind, "3000");
                let jvm = place.jvm(kind);
                send(signal, tool.id());
                let code = wait(&mut tool, &Deadline::new("the run"));
                let stderr = fs::read_to_string(place.dir.path().join("stderr")).unwrap();
                assert_eq!(code, Some(ended), "{kind:?} {signal} {stderr}");
                assert!(is_gone(jvm), "{kind:?} {signal}");
                let report = report(&place.out());
                assert_eq!(report.runs[0].exit, Exit::Interrupted, "{kind:?} {signal}");
                let reasons = decide(&report, Rule::ObservedRates, &[]).reasons;
                let reasons: Vec<_> = reasons.into_iter().map(|reason| reason.text).collect();
                let reasons = reasons.join("\n");
                assert!(reasons.contains("it was interrupted"), "{reasons}");
            }
        }
    }
}

#[test]
fn a_killed_tool_leaves_no_jvm_behind() {
    for place in places() {
        for kind in [Kind::Users, Kind::Scenario] {
            let mut tool = place.start(kind, "3000");
            let jvm = place.jvm(kind);
            tool.kill().unwrap();
            tool.wait().unwrap();
            until("the JVM of a killed tool", || is_gone(jvm).then_some(()));
        }
    }
}

#[test]
fn a_program_that_is_ended_halfway_was_interrupted() {
    for place in places() {
        for signal in ["-TERM", "-HUP", "-INT"] {
            let mut tool = place.start(Kind::Users, "3000");
            send(signal, place.jvm(Kind::Users));
            let code = wait(&mut tool, &Deadline::new("the run"));
            assert_eq!(code, Some(3), "{signal}");
            let exit = &report(&place.out()).runs[0].exit;
            assert_eq!(*exit, Exit::Interrupted, "{signal}");
        }
    }
}

#[test]
fn a_dump_of_the_threads_can_be_asked_for() {
    for place in places() {
        for kind in [Kind::Users, Kind::Scenario] {
            let mut tool = place.start(kind, "3000");
            place.jvm(kind);
            send("-QUIT", tool.id());
            until("the dump of the threads", || {
                let output = fs::read_to_string(place.output(kind)).unwrap();
                output.contains("Full thread dump").then_some(())
            });
            // Both continue afterwards.
            assert!(tool.try_wait().unwrap().is_none());
            send("-TERM", tool.id());
            assert_eq!(wait(&mut tool, &Deadline::new("the run")), Some(143));
        }
    }
}
