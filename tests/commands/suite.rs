//! A suite whose benchmarks end in different ways: each benchmark gets its own result, and no
//! benchmark loses the data of another.

use crate::support::{Place, jdks, run};
use oracle::report::Exit;
use std::path::PathBuf;
use std::process::Command;

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/suite.toml");

/// A folder with the compiled suite as `suite.jar`; `None` without a JDK that has a compiler.
fn place(jdk: Option<PathBuf>) -> Option<Place> {
    let jdk = jdk?;
    let place = Place::on(&jdk);
    if !place.compiles("Suite", include_str!("../suite/Suite.java")) {
        return None;
    }
    let mut jar = Command::new(jdk.join("bin/jar"));
    jar.args(["--create", "--main-class", "Suite", "--file", "suite.jar"]);
    run(jar
        .args(["-C", ".", "Suite.class"])
        .current_dir(place.path("")))
    .ok();
    Some(place)
}

#[test]
fn each_fate_has_its_verdict() {
    let Some(place) = place(jdks().pop()) else {
        return;
    };
    let words = format!("run --scenario {SCENARIO} --render junit --jar suite.jar --out out");
    place.run(&words).ended(4);

    let report = place.report("out");
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
    let threads = place.read(&format!("out/{}/threads.txt", hanging.dir));
    assert!(threads.contains("Suite.main"), "{threads}");
    for run in &report.runs {
        assert!(
            run.layers.iter().all(|counts| counts.checks > 0),
            "{run:#?}"
        );
    }

    let junit = place.read("out/junit.xml");
    // The result of the whole report, and the three runs that failed.
    assert_eq!(junit.matches("<error ").count(), 4, "{junit}");
    assert!(report.complete);
}

#[test]
fn one_benchmark_can_be_chosen_and_must_exist() {
    let Some(place) = place(jdks().into_iter().next()) else {
        return;
    };
    let plan = |benchmark: &str| {
        place.run(&format!(
            "plan --scenario renaissance --benchmark {benchmark} --jar suite.jar"
        ))
    };
    let one = plan("failing").ended(0);
    assert_eq!(one.stdout.lines().count(), 1, "{one:?}");
    let none = plan("fail").ended(2);
    let expected = "no benchmark `fail` in it; it has passing, failing";
    assert!(none.stderr.contains(expected), "{none:?}");
}

#[test]
fn without_a_jar_the_message_says_where_to_get_a_jar() {
    for (suite, place) in [
        ("renaissance", "https://renaissance.dev"),
        ("dacapo", "dacapobench.org"),
    ] {
        let output = Place::new()
            .run(&format!("run --scenario {suite}"))
            .ended(2);
        for expected in [place, "--jar"] {
            assert!(output.stderr.contains(expected), "{output:?}");
        }
    }
}
