//! `run -- JAVA_ARGS`: a user's program keeps its input, output and exit code.

use crate::support::{Place, jdks, run_with};
use oracle::report::Exit;
use std::path::PathBuf;
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

/// A place for each JDK that has a compiler, with the compiled program.
fn places() -> impl Iterator<Item = (PathBuf, Place)> {
    let places = jdks().into_iter().map(|jdk| {
        let place = Place::on(&jdk);
        (jdk, place)
    });
    places.filter(|(_, place)| place.compiles("Prog", PROGRAM))
}

#[test]
fn a_program_keeps_its_streams_and_its_exit_code() {
    for (jdk, place) in places() {
        let args = ["-cp", ".", "Prog", "a b", "c"];
        let mut plain = Command::new(jdk.join("bin/java"));
        let plain = run_with(plain.args(args).current_dir(place.path("")), "echo\nme");
        let ours = run_with(place.command("run --out out --").args(args), "echo\nme");

        assert_eq!(ours.stdout, plain.stdout);
        let start = "to standard error\n\nStackwitness ";
        assert!(ours.stderr.starts_with(start), "{ours:#?}");
        assert!(matches!(ours.code, Some(0 | 1)), "{ours:#?}");
        let report = place.report("out");
        let run = &report.runs[0];
        assert_eq!(run.exit, Exit::Code(7));
        assert_eq!(&run.java_args[2..], ["Prog", "a b", "c"]);
        assert!(report.layers.iter().any(|counts| counts.checks > 0));
        assert!(run.rewriting.as_ref().unwrap().application_classes > 0);
    }
}

#[test]
fn a_failed_start_differs_from_a_failed_program() {
    let expected = "the program did not start: java ended with 1; see its message above";
    for jdk in jdks() {
        let place = Place::on(&jdk);
        for arguments in ["-cp . NoSuchClass", "-XX:NoSuchOption=1 -version"] {
            let output = place.run(&format!("run --out out -- {arguments}")).ended(3);
            assert!(output.stderr.contains(expected), "{output:#?}");
        }
    }
}

#[test]
fn the_slowdown_is_measured_on_request() {
    for (_, place) in places() {
        let measure = |options: &str| {
            let words = format!("run --out out{options} -- -cp . Prog x");
            let output = run_with(&mut place.command(&words), "echo");
            let cost = place.report("out").runs[0].cost.clone();
            (output.stdout, cost.expect("the JVM was started"))
        };
        let (output, cost) = measure("");
        assert!(cost.cpu_s > 0.0 && cost.without_agent.is_none(), "{cost:?}");
        assert!(
            cost.slowdown_cpu.is_none() && cost.not_compared.is_some(),
            "{cost:?}"
        );

        let (twice, cost) = measure(" --slowdown");
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
