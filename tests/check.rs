//! `stackwitness check`: two builds in turns.

mod support;

use std::fs;
use std::path::Path;
use support::{Output, on_each_jdk, report, run, stackwitness};

/// One program, so that each pair takes a few seconds.
const SCENARIO: &str = "
    name = 'turns'
    layers = ['ground', 'gst', 'asgct-safepoint', 'asgct-async']
    [sampling]
    check_share = 0.3
    [budget]
    asgct-async = 0.02
    [[program]]
    name = 'calls'
    fixtures = { names = ['mutual-recursion', 'math-parser', 'lambdas'], seconds = 1.5 }
    baseline = false
    ";

/// Checks a JDK against itself, with further options.
fn check(jdk: &Path, dir: &Path, options: &[&str]) -> Output {
    let scenario = dir.join("turns.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let mut command = stackwitness();
    command.arg("check").arg("--base").arg(jdk).arg(jdk);
    command
        .arg("--scenario")
        .arg(scenario)
        .arg("--out")
        .arg(dir.join("out"));
    command
        .args(["--seed", "5", "--render", "markdown"])
        .args(options);
    run(&mut command)
}

#[test]
fn a_jdk_is_not_worse_than_itself() {
    on_each_jdk(|jdk| {
        let dir = tempfile::tempdir().unwrap();
        // Whether a machine excludes so much in time depends on its speed (3). It must never find a difference.
        let output = check(jdk, dir.path(), &["--minutes", "1", "--detect", "0.2"]);
        assert!(matches!(output.code, Some(0 | 3)), "{output:#?}");
        let (base, new) = (
            report(&dir.path().join("out/base")),
            report(&dir.path().join("out/new")),
        );
        assert_eq!(base.runs.len(), new.runs.len());
        for (one, other) in base.runs.iter().zip(&new.runs) {
            // The same program with the same seed.
            let fixtures =
                |run: &oracle::report::Run| run.java_args[run.java_args.len() - 3..].to_vec();
            assert_eq!((one.seed, fixtures(one)), (other.seed, fixtures(other)));
        }
        let written = fs::read_to_string(dir.path().join("out/check.md")).unwrap();
        assert!(written.contains("asgct-async"), "{written}");
    });
}

#[test]
fn a_walker_that_became_worse_is_found() {
    on_each_jdk(|jdk| {
        let dir = tempfile::tempdir().unwrap();
        let fault = [
            "--minutes",
            "20",
            "--fault",
            "drop-middle:asgct-safepoint:20",
        ];
        let output = check(jdk, dir.path(), &fault);
        assert_eq!(output.code, Some(1), "{output:#?}");
        let first = output.stdout.lines().next().unwrap_or_default();
        assert!(
            first.contains("the new build is worse: asgct-safepoint: wrong"),
            "{output:#?}"
        );
        // An example with both stacks, and the command that shows the program alone.
        for part in ["walker (", "truth (", "alone: stackwitness run --jdk"] {
            assert!(output.stdout.contains(part), "{part}: {output:#?}");
        }
    });
}

#[test]
fn a_false_answer_of_get_stack_trace_ends_the_check_at_once() {
    on_each_jdk(|jdk| {
        let dir = tempfile::tempdir().unwrap();
        let output = check(
            jdk,
            dir.path(),
            &["--minutes", "20", "--fault", "drop-middle:gst:200"],
        );
        assert_eq!(output.code, Some(1), "{output:#?}");
        assert!(
            output
                .stdout
                .contains("at these places an honest JVM gives none"),
            "{output:#?}"
        );
        assert!(
            report(&dir.path().join("out/new")).runs.len() <= 2,
            "{output:#?}"
        );
    });
}

/// The turn that has such codes is the last, for the check and for the gate. So many are injected that also a slow machine has
/// some in each turn.
#[test]
fn an_error_code_of_another_state_fails_at_once() {
    on_each_jdk(|jdk| {
        for (layer, one_in) in [("asgct-safepoint", 5), ("asgct-async", 2)] {
            let dir = tempfile::tempdir().unwrap();
            let fault = format!("code-of-other-state:{layer}:{one_in}");
            let output = check(jdk, dir.path(), &["--minutes", "20", "--fault", &fault]);
            assert_eq!(output.code, Some(1), "{output:#?}");
            let first = output.stdout.lines().next().unwrap_or_default();
            let says = format!("no honest JVM gives this answer: {layer}: ");
            assert!(first.contains(&says), "{output:#?}");
            let new = dir.path().join("out/new");
            assert!(report(&new).runs.len() <= 2, "{output:#?}");
            let output = run(stackwitness().arg("gate").arg(&new));
            assert_eq!(output.code, Some(1), "{output:#?}");
            assert!(output.stdout.contains(&says), "{output:#?}");
        }
    });
}

/// The thread stands in the hook's own native method, whatever all walkers say.
#[test]
fn a_native_method_that_is_lost_fails_at_once() {
    on_each_jdk(|jdk| {
        for (layer, one_in, says) in [
            ("gst", 5, "at these places an honest JVM gives none"),
            (
                "asgct-safepoint",
                5,
                "a stack without the native method that the thread is in",
            ),
            (
                "asgct-async",
                2,
                "a stack without the native method that the thread is in",
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let fault = format!("drop-native-top:{layer}:{one_in}");
            let output = check(jdk, dir.path(), &["--minutes", "20", "--fault", &fault]);
            assert_eq!(output.code, Some(1), "{output:#?}");
            let first = output.stdout.lines().next().unwrap_or_default();
            let is_of_layer = first.contains(layer) && first.contains(says);
            assert!(is_of_layer, "{output:#?}");
            assert!(
                report(&dir.path().join("out/new")).runs.len() <= 3,
                "{output:#?}"
            );
        }
    });
}

/// GetStackTrace must give exactly the part of the stack that it is asked for. The answer shows which part that was.
#[test]
fn a_wrong_part_of_a_stack_fails_at_once() {
    on_each_jdk(|jdk| {
        for (kind, reason) in [
            ("start-depth", "another part of the stack"),
            ("frame-count", "another part of the stack"),
            ("any-depth", "from a start depth outside of the stack"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let fault = format!("{kind}:gst:2");
            let output = check(jdk, dir.path(), &["--minutes", "20", "--fault", &fault]);
            assert_eq!(output.code, Some(1), "{output:#?}");
            let first = output.stdout.lines().next().unwrap_or_default();
            assert!(first.contains("gst: "), "{output:#?}");
            for part in [reason, "start_depth ", "max_frame_count "] {
                assert!(output.stdout.contains(part), "{part}: {output:#?}");
            }
            let new = report(&dir.path().join("out/new"));
            assert!(new.runs.len() <= 3, "{output:#?}");
        }
    });
}

#[test]
fn what_is_no_jdk_is_bad_usage() {
    let dir = tempfile::tempdir().unwrap();
    let output = check(&dir.path().join("nothing"), dir.path(), &[]);
    assert_eq!(output.code, Some(2), "{output:#?}");
    assert!(output.stderr.contains("nothing"), "{output:#?}");
}
