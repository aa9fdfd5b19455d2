//! `stackwitness check`: two builds in turns.

mod support;

use oracle::Layer;
use oracle::report::Run;
use serde_json::Value;
use std::path::Path;
use support::{COUNTS_ONE, Output, Place, on_each_jdk};

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

/// Checks a JDK against itself, with further options. The place has the results in `out`.
fn check(jdk: &Path, options: &str) -> (Place, Output) {
    let place = Place::new();
    place.write("turns.toml", SCENARIO);
    let jdk = jdk.display();
    let output = place.run(&format!(
        "check --base {jdk} {jdk} --scenario turns.toml --out out --seed 5 --render markdown{options}"
    ));
    (place, output)
}

/// Checks a JDK against itself with a fault in the new build, which must be worse. At most so many turns are enough.
fn worse(jdk: &Path, fault: &str, most_turns: usize) -> (Place, Output) {
    let (place, output) = check(jdk, &format!(" --minutes 20 --fault {fault}"));
    let output = output.ended(1);
    let turns = place.report("out/new").runs.len();
    assert!(turns <= most_turns, "{output:#?}");
    (place, output)
}

/// The answer: the first paragraph, whose lines are at most 100 columns wide.
fn answer(output: &Output) -> String {
    let first = output.stdout.split("\n\n").next().unwrap_or_default();
    first.replace('\n', " ")
}

#[test]
fn a_jdk_is_not_worse_than_itself() {
    on_each_jdk(|jdk| {
        // Whether a machine excludes so much in time depends on its speed (3). It must never find a difference.
        let (place, output) = check(jdk, " --minutes 1 --detect 0.2");
        assert!(matches!(output.code, Some(0 | 3)), "{output:#?}");
        let [base, new] = ["out/base", "out/new"].map(|side| place.report(side));
        assert_eq!(base.runs.len(), new.runs.len());
        for (one, other) in base.runs.iter().zip(&new.runs) {
            // The same program with the same seed.
            let fixtures = |run: &Run| run.java_args[run.java_args.len() - 3..].to_vec();
            assert_eq!((one.seed, fixtures(one)), (other.seed, fixtures(other)));
        }
        let page = place.read("out/report.html");
        let last = output.stdout.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("Report  file:///") && last.ends_with("/out/report.html"),
            "{output:#?}"
        );
        assert!(page.contains("<code>asgct-async</code>"), "{page}");
        let written = place.read("out/check.md");
        assert!(written.contains("asgct-async"), "{written}");
    });
}

#[test]
fn a_walker_that_became_worse_is_found() {
    on_each_jdk(|jdk| {
        // So few that they are within the layer's budget of unexplained stacks.
        let (place, output) = worse(jdk, "drop-middle:asgct-async:120", usize::MAX);
        let says = "the new build is worse: asgct-async: wrong";
        assert!(answer(&output).contains(says), "{output:#?}");
        // An example with both stacks, and the command that shows the program alone.
        for part in ["walker (", "truth (", "alone: stackwitness run --jdk"] {
            assert!(output.stdout.contains(part), "{part}: {output:#?}");
        }
        // The page says the same, with an example.
        let page = place.read("out/report.html");
        for part in [
            "The new build is worse:",
            "asgct-async: wrong",
            "<table class=\"stacks\">",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    });
}

/// The JVM's known defects lose no frame in the middle, and at a safepoint all of them can be proven.
#[test]
fn stacks_that_no_defect_explains_fail_at_once() {
    on_each_jdk(|jdk| {
        let (place, output) = worse(jdk, "drop-middle:asgct-safepoint:20", 4);
        let says = "asgct-safepoint: no known defect of a walker explains ";
        assert!(answer(&output).contains(says), "{output:#?}");
        for part in ["walker (", "truth (", "alone: stackwitness run --jdk"] {
            assert!(output.stdout.contains(part), "{part}: {output:#?}");
        }
        // Beside the false stacks of known defects, which are no news.
        assert!(place.read("out/report.html").contains(says));
    });
}

/// GetStackTrace makes no mistake.
const NO_HONEST_JVM: &str = "at these places an honest JVM gives none";

#[test]
fn a_false_answer_of_get_stack_trace_ends_the_check_at_once() {
    on_each_jdk(|jdk| {
        let (_, output) = worse(jdk, "drop-middle:gst:200", 2);
        assert!(output.stdout.contains(NO_HONEST_JVM), "{output:#?}");
    });
}

/// The turn that has such codes is the last, for the check and for the gate. So many are injected that also a slow machine has
/// some in each turn.
#[test]
fn an_error_code_of_another_state_fails_at_once() {
    on_each_jdk(|jdk| {
        for (layer, one_in) in [("asgct-safepoint", 5), ("asgct-async", 2)] {
            let (place, output) = worse(jdk, &format!("code-of-other-state:{layer}:{one_in}"), 2);
            let says = format!("no honest JVM gives this answer: {layer}: ");
            assert!(answer(&output).contains(&says), "{output:#?}");
            let gate = place.run("gate out/new").ended(1);
            assert!(gate.stdout.contains(&says), "{gate:#?}");
        }
    });
}

/// The thread stands in the hook's own native method, whatever all walkers say.
#[test]
fn a_native_method_that_is_lost_fails_at_once() {
    const LOST: &str = "a stack without the native method that the thread is in";
    on_each_jdk(|jdk| {
        for (layer, one_in, says) in [
            ("gst", 5, NO_HONEST_JVM),
            ("asgct-safepoint", 5, LOST),
            ("asgct-async", 2, LOST),
        ] {
            let (_, output) = worse(jdk, &format!("drop-native-top:{layer}:{one_in}"), 3);
            let first = answer(&output);
            let is_of_layer = first.contains(layer) && first.contains(says);
            assert!(is_of_layer, "{output:#?}");
        }
    });
}

/// GetStackTrace must give exactly the part of the stack that it is asked for. The answer shows which part that was.
#[test]
fn a_wrong_part_of_a_stack_fails_at_once() {
    const OTHER: &str = "another part of the stack";
    const OUTSIDE: &str = "from a start depth outside of the stack";
    const REFUSED: &str = "for a start depth inside of the stack";
    on_each_jdk(|jdk| {
        for (kind, reasons) in [
            // A start depth just outside of the stack becomes one inside, or the other way round.
            ("start-depth", &[OTHER, OUTSIDE, REFUSED][..]),
            ("frame-count", &[OTHER]),
            ("any-depth", &[OUTSIDE]),
        ] {
            let (_, output) = worse(jdk, &format!("{kind}:gst:2"), 3);
            assert!(answer(&output).contains("gst: "), "{output:#?}");
            let says = |part: &&str| output.stdout.contains(part);
            assert!(reasons.iter().any(says), "{output:#?}");
            for part in ["start_depth ", "max_frame_count "] {
                assert!(says(&part), "{part}: {output:#?}");
            }
        }
    });
}

/// A program of the check alone, whose threads step. Each turn has a few thousand different instructions.
const STEPS: &str = "
    name = 'turns'
    layers = ['ground', 'gst', 'asgct-safepoint']
    [[program]]
    name = 'calls'
    fixtures = { names = ['lambdas'], seconds = 1 }
    baseline = false
    [[program]]
    name = 'steps'
    check_only = true
    layers = ['gst-step', 'asgct-step']
    sampling = { steps = true, gst_every = 0 }
    hooks = 'none'
    fixtures = { names = ['sorting'], seconds = 1 }
    baseline = false
    ";

#[test]
fn the_instructions_of_both_builds_are_compared() {
    on_each_jdk(|jdk| {
        let place = Place::new();
        place.write("steps.toml", STEPS);
        let home = jdk.display();
        let output = place.run(&format!(
            "check --base {home} {home} --scenario steps.toml --out out --json --minutes 0.4"
        ));
        assert!(matches!(output.code, Some(0 | 3)), "{output:#?}");
        let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let bounds = answer["bounds"].as_array().expect("an array");
        let of_steps = bounds.iter().find(|bound| bound["layer"] == "asgct-step");
        let of_steps = of_steps.unwrap_or_else(|| panic!("{output:#?}"));
        for side in ["base", "new"] {
            assert!(of_steps[side]["checks"].as_u64() > Some(0), "{output:#?}");
        }
        // A run of the scenario does not have the program.
        let report = place.report("out/base");
        assert!(
            !report.required.contains(&Layer::AsgctStep),
            "{:?}",
            report.required
        );
    });
}

/// Checks a JVM whose turns all end well against one that crashes while `crashes`, a condition of the shell, holds.
fn check_crashing(crashes: &str) -> (Place, Value, Option<i32>) {
    const PROGRAM: &str = "
        name = 'short'
        layers = ['gst']
        [[program]]
        name = 'counts'
        fixtures = { names = ['math-parser'], seconds = 0.1 }
        baseline = false
        ";
    let base = Place::with_fake_jdk(COUNTS_ONE);
    let crash =
        format!("if [ -n \"$dir\" ] && {crashes}; then touch $0.crashed; kill -SEGV $$; fi");
    let place = Place::with_fake_jdk(&format!("{COUNTS_ONE}\n{crash}"));
    place.write("short.toml", PROGRAM);
    let base = base.path("jdk");
    let output = place.run(&format!(
        "check --base {} jdk --scenario short.toml --out out --minutes 0.05 --detect 0.9 --json",
        base.display()
    ));
    let answer = serde_json::from_str(&output.stdout);
    (
        place,
        answer.unwrap_or_else(|e| panic!("{e}: {output:#?}")),
        output.code,
    )
}

#[test]
fn a_crash_that_does_not_come_again_is_named_and_ends_nothing() {
    let (place, answer, code) = check_crashing("[ ! -e $0.crashed ]");
    assert!(matches!(code, Some(0 | 3)), "{answer:#}");
    let [once] = &answer["crashed_once"].as_array().unwrap()[..] else {
        panic!("{answer:#}");
    };
    let once = once.as_str().unwrap();
    assert!(once.contains("killed by signal 11"), "{once}");
    // The turn was repeated.
    let [base, new] = ["out/base", "out/new"].map(|side| place.report(side).runs.len());
    assert_eq!(new, base + 1);
}

#[test]
fn a_crash_that_comes_again_ends_the_check() {
    let (place, answer, code) = check_crashing("true");
    assert_eq!(code, Some(4), "{answer:#}");
    assert_eq!(place.report("out/new").runs.len(), 2);
}

#[test]
fn what_is_no_jdk_is_bad_usage() {
    let output = check(Path::new("nothing"), "").1.ended(2);
    assert!(output.stderr.contains("nothing"), "{output:#?}");
}
