//! `run -- JAVA_ARGS`: a user's program keeps its input, output and exit code.

use crate::support::{jdks, report, run, run_with, stackwitness};
use oracle::report::Exit;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = r#"
    public class Prog {
        static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        public static void main(String[] args) throws Exception {
            System.out.println(fib(30) + " " + String.join(",", args));
            System.in.transferTo(System.out);
            System.err.println("to standard error");
            System.exit(7);
        }
    }
"#;

/// Compiles with the JDK's own compiler, and so for this JDK.
fn compile(jdk: &Path, dir: &Path) -> Option<PathBuf> {
    let javac = jdk.join("bin/javac");
    if !javac.exists() {
        println!("skipped: {} has no compiler", jdk.display());
        return None;
    }
    let source = dir.join("Prog.java");
    std::fs::write(&source, PROGRAM).unwrap();
    let output = run(Command::new(javac).arg("-d").arg(dir).arg(source));
    assert_eq!(output.code, Some(0), "{output:?}");
    Some(dir.into())
}

#[test]
fn a_program_keeps_its_streams_and_its_exit_code() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        let Some(classes) = compile(&jdk, dir.path()) else {
            continue;
        };
        let args = |command: &mut Command| {
            command.arg("-cp").arg(&classes).args(["Prog", "a b", "c"]);
        };
        let mut plain = Command::new(jdk.join("bin/java"));
        args(&mut plain);
        let plain = run_with(&mut plain, "echo\nme");

        let out = dir.path().join("out");
        let mut ours = stackwitness();
        ours.args(["run", "--jdk"])
            .arg(&jdk)
            .arg("--out")
            .arg(&out)
            .arg("--");
        args(&mut ours);
        let ours = run_with(&mut ours, "echo\nme");

        assert_eq!(ours.stdout, plain.stdout);
        assert!(
            ours.stderr
                .starts_with("to standard error\n\nStackwitness "),
            "{}",
            ours.stderr
        );
        assert!(matches!(ours.code, Some(0 | 1)), "{ours:#?}");
        let report = report(&out);
        assert_eq!(report.runs[0].exit, Exit::Code(7));
        assert_eq!(&report.runs[0].java_args[2..], ["Prog", "a b", "c"]);
        assert!(report.layers.iter().any(|counts| counts.checks > 0));
        assert!(
            report.runs[0]
                .rewriting
                .as_ref()
                .unwrap()
                .application_classes
                > 0
        );
    }
}

#[test]
fn a_failed_start_differs_from_a_failed_program() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        for arguments in [
            &["-cp", ".", "NoSuchClass"][..],
            &["-XX:NoSuchOption=1", "-version"],
        ] {
            let output = run(stackwitness()
                .args(["run", "--jdk"])
                .arg(&jdk)
                .arg("--out")
                .arg(dir.path())
                .arg("--")
                .args(arguments));
            assert_eq!(output.code, Some(3), "{output:#?}");
            assert!(
                output.stderr.contains(
                    "the program did not start: java ended with 1; see its message above"
                ),
                "{}",
                output.stderr
            );
        }
    }
}

#[test]
fn the_slowdown_is_measured_on_request() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().unwrap();
        let Some(classes) = compile(&jdk, dir.path()) else {
            continue;
        };
        let measure = |options: &[&str]| {
            let out = dir.path().join("out");
            let mut ours = stackwitness();
            ours.args(["run", "--jdk"]).arg(&jdk).arg("--out").arg(&out);
            ours.args(options).args(["--", "-cp"]).arg(&classes);
            let output = run_with(ours.args(["Prog", "x"]), "echo");
            let cost = report(&out).runs[0].cost.clone();
            (output.stdout, cost.expect("the JVM was started"))
        };
        let (output, cost) = measure(&[]);
        assert!(cost.cpu_s > 0.0 && cost.without_agent.is_none(), "{cost:?}");
        assert!(
            cost.slowdown_cpu.is_none() && cost.not_compared.is_some(),
            "{cost:?}"
        );

        let (twice, cost) = measure(&["--slowdown"]);
        assert_eq!(twice, output, "the second run prints nothing");
        let without = cost.without_agent.expect("it exits with 7 both times");
        // Each hooked call costs time in a program of small calls.
        assert!(
            without.cpu_s > 0.0 && cost.cpu_s > without.cpu_s,
            "{cost:?}"
        );
        assert_eq!(cost.slowdown_cpu, Some(cost.cpu_s / without.cpu_s));
    }
}
