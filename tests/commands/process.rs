//! The processes of a run: all of them end with the run, and signals reach the JVM, also where
//! `bin/java` is a script that starts the JVM.

use crate::support::{Deadline, Place, is_gone, jdks, signal, until, wait};
use oracle::gate::{Rule, decide};
use oracle::report::Exit;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
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

/// A place for each JDK that has a compiler, with the compiled program, and with a JDK whose `java` is a script.
fn places() -> Vec<Place> {
    let compiled = jdks().into_iter().filter_map(|jdk| {
        let place = Place::on(&jdk);
        let compiles = place.compiles("Waits", PROGRAM);
        compiles.then(|| place.with_jdk(|folder| wrapped(&jdk, folder)))
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

fn start(place: &Place, kind: Kind, deadline: &str) -> Child {
    // Files of an earlier run must not count for this run.
    let _ = fs::remove_dir_all(place.path("out"));
    let classes = place.path("");
    let classes = classes.display();
    let mut tool = match kind {
        Kind::Users => place.command(&format!(
            "run --out out --deadline {deadline} -- -cp . Waits"
        )),
        Kind::Scenario => {
            let text = format!(
                "name = 'x'\n[[program]]\nname = 'program'\njava = ['-cp', '{classes}', 'Waits']\n\
                 deadline_s = {deadline}\n"
            );
            place.write("x.toml", text);
            place.command("run --out out --scenario x.toml")
        }
    };
    let log = |name| fs::File::create(place.path(name)).unwrap();
    tool.stdin(Stdio::null());
    tool.stdout(log("stdout")).stderr(log("stderr"));
    tool.spawn().unwrap()
}

/// The JVM, once its program is waiting.
fn jvm(place: &Place, kind: Kind) -> u32 {
    let file = place.path("out/runs/001-program/jvm.pid");
    until("the start of the program", || {
        let output = fs::read_to_string(output(place, kind)).unwrap_or_default();
        let pid = fs::read_to_string(&file).unwrap_or_default();
        let is_waiting = output.contains("waits ");
        pid.trim().parse().ok().filter(|_| is_waiting)
    })
}

/// The file with the program's output.
fn output(place: &Place, kind: Kind) -> PathBuf {
    place.path(match kind {
        Kind::Users => "stdout",
        Kind::Scenario => "out/runs/001-program/stdout.txt",
    })
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
    let mut tool = start(place, kind, "20");
    let jvm = jvm(place, kind);
    let code = wait(&mut tool, &Deadline::new("the run"));
    assert_eq!(code, Some(4), "{kind:?}");
    assert!(is_gone(jvm), "{kind:?}");
    assert_eq!(leftovers(jvm), Vec::<PathBuf>::new(), "{kind:?}");
    // The script has no Java threads; the JVM has.
    let threads = place.read("out/runs/001-program/threads.txt");
    assert!(threads.contains("\"main\""), "{threads}");
}

#[test]
fn signals_end_the_jvm_behind_a_script() {
    for place in places() {
        for kind in [Kind::Users, Kind::Scenario] {
            for (name, ended) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
                let mut tool = start(&place, kind, "3000");
                let jvm = jvm(&place, kind);
                signal(name, tool.id());
                let code = wait(&mut tool, &Deadline::new("the run"));
                let stderr = place.read("stderr");
                assert_eq!(code, Some(ended), "{kind:?} {name} {stderr}");
                assert!(is_gone(jvm), "{kind:?} {name}");
                let report = place.report("out");
                assert_eq!(report.runs[0].exit, Exit::Interrupted, "{kind:?} {name}");
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
            let mut tool = start(&place, kind, "3000");
            let jvm = jvm(&place, kind);
            tool.kill().unwrap();
            tool.wait().unwrap();
            until("the JVM of a killed tool", || is_gone(jvm).then_some(()));
        }
    }
}

#[test]
fn a_program_that_is_ended_halfway_was_interrupted() {
    for place in places() {
        for name in ["-TERM", "-HUP", "-INT"] {
            let mut tool = start(&place, Kind::Users, "3000");
            signal(name, jvm(&place, Kind::Users));
            let code = wait(&mut tool, &Deadline::new("the run"));
            assert_eq!(code, Some(3), "{name}");
            let exit = &place.report("out").runs[0].exit;
            assert_eq!(*exit, Exit::Interrupted, "{name}");
        }
    }
}

#[test]
fn a_dump_of_the_threads_can_be_asked_for() {
    for place in places() {
        for kind in [Kind::Users, Kind::Scenario] {
            let mut tool = start(&place, kind, "3000");
            jvm(&place, kind);
            signal("-QUIT", tool.id());
            until("the dump of the threads", || {
                let output = fs::read_to_string(output(&place, kind)).unwrap();
                output.contains("Full thread dump").then_some(())
            });
            // Both continue afterwards.
            assert!(tool.try_wait().unwrap().is_none());
            signal("-TERM", tool.id());
            assert_eq!(wait(&mut tool, &Deadline::new("the run")), Some(143));
        }
    }
}
