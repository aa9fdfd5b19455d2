//! A suite whose benchmarks end in different ways: each benchmark gets its own result, and no
//! benchmark loses the data of another.

use crate::support::{jdks, report, run, stackwitness};
use oracle::report::Exit;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/suite.toml");

/// Compiles the suite and packs it; `None` if the JDK has no compiler.
fn jar(jdk: &Path, dir: &Path) -> Option<PathBuf> {
    if !jdk.join("bin/jar").exists() {
        println!("skipped: {} has no compiler", jdk.display());
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/Suite.java");
    let classes = dir.join("classes");
    let javac = run(Command::new(jdk.join("bin/javac"))
        .args(["-nowarn", "-d"])
        .arg(&classes)
        .arg(source));
    assert_eq!(javac.code, Some(0), "{javac:?}");
    let jar = dir.join("suite.jar");
    let packed = run(Command::new(jdk.join("bin/jar"))
        .args(["--create", "--main-class", "Suite", "--file"])
        .arg(&jar)
        .arg("-C")
        .arg(classes)
        .arg("."));
    assert_eq!(packed.code, Some(0), "{packed:?}");
    Some(jar)
}

#[test]
fn each_fate_has_its_verdict() {
    let Some(jdk) = jdks().pop() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(jar) = jar(&jdk, dir.path()) else {
        return;
    };
    let out = dir.path().join("out");
    let output = run(stackwitness()
        .args(["run", "--scenario", SCENARIO, "--render", "junit", "--jdk"])
        .arg(&jdk)
        .arg("--jar")
        .arg(&jar)
        .arg("--out")
        .arg(&out));
    assert_eq!(output.code, Some(4), "{output:#?}");

    let report = report(&out);
    let names: Vec<_> = report
        .runs
        .iter()
        .map(|run| run.scenario.as_str())
        .collect();
    assert_eq!(names, ["passing", "failing", "crashing", "hanging"]);
    let [passing, failing, crashing, hanging] = &report.runs[..] else {
        unreachable!("there are four");
    };
    assert_eq!((&passing.exit, &passing.failed), (&Exit::Code(0), &None));
    assert!(
        passing
            .layers
            .iter()
            .all(|counts| counts.tally().decided() > 0),
        "{passing:#?}"
    );
    assert_eq!(failing.exit, Exit::Code(1));
    assert!(failing.failed.is_some() && failing.invalid.is_none());
    assert_eq!(crashing.exit, Exit::Signal(6));
    assert!(
        crashing
            .notes
            .iter()
            .any(|note| note.starts_with("crash: SIGSEGV")
                && note.ends_with("our agent is not on its stack")),
        "{crashing:#?}"
    );
    assert_eq!(hanging.exit, Exit::Deadline);
    let threads = std::fs::read_to_string(out.join(&hanging.dir).join("threads.txt")).unwrap();
    assert!(threads.contains("Suite.main"), "{threads}");
    for run in &report.runs {
        assert!(
            run.layers.iter().all(|counts| counts.checks > 0),
            "{run:#?}"
        );
    }

    let junit = std::fs::read_to_string(out.join("junit.xml")).unwrap();
    // The result of the whole report, and the three runs that failed.
    assert_eq!(junit.matches("<error ").count(), 4, "{junit}");
    assert!(report.complete);
}

#[test]
fn one_benchmark_can_be_chosen_and_must_exist() {
    let Some(jdk) = jdks().into_iter().next() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let Some(jar) = jar(&jdk, dir.path()) else {
        return;
    };
    let plan = |benchmark: &str| {
        run(stackwitness()
            .args([
                "plan",
                "--scenario",
                "renaissance",
                "--benchmark",
                benchmark,
                "--jdk",
            ])
            .arg(&jdk)
            .arg("--jar")
            .arg(&jar))
    };
    let one = plan("failing");
    assert_eq!(
        (one.code, one.stdout.lines().count()),
        (Some(0), 1),
        "{one:?}"
    );
    let none = plan("fail");
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr
            .contains("no benchmark `fail` in it; it has passing, failing"),
        "{}",
        none.stderr
    );
}

#[test]
fn without_a_jar_the_message_says_where_to_get_a_jar() {
    for (suite, place) in [
        ("renaissance", "https://renaissance.dev"),
        ("dacapo", "dacapobench.org"),
    ] {
        let output = run(stackwitness().args(["run", "--scenario", suite]));
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(
            output.stderr.contains(place) && output.stderr.contains("--jar"),
            "{}",
            output.stderr
        );
    }
}
