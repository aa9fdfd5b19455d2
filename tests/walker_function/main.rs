//! `run --walker`: a function of a shared library, or of the JVM, is asked in place of a walker.

#[path = "../support/mod.rs"]
mod support;

use oracle::Layer;
use oracle::report::Report;
use oracle::tally::Tally;
use std::path::Path;
use support::{c_library, on_each_jdk, seeds};

/// Our walkers.
const SOURCE: &str = "tests/walker_function/walkers.c";

/// So many answers are enough to tell one cut stack in ten from the budget.
const ANSWERS: u64 = 2000;

/// AsyncGetCallTrace itself cuts some stacks: this share of them at most, as the scenario says.
const BUDGET: f64 = 0.01;

fn share(tally: &Tally) -> f64 {
    tally.mismatches() as f64 / tally.decided() as f64
}

/// The layers of both signatures, on a program whose stacks AsyncGetCallTrace walks well.
const SCENARIO: &str = r#"
    name = "functions"
    layers = ["ground", "gst", "asgct-safepoint", "asgst-safepoint"]
    [budget]
    asgct-safepoint = 0.01
    [sampling]
    check_share = 0.3
    [[program]]
    name = "calls"
    baseline = false
    fixtures = { names = ["mutual-recursion", "math-parser"], seconds = 1.5 }
"#;

/// Runs until `layer` has its answers, and returns the last report with the sum of its counts.
fn judged(jdk: &Path, walker: &str, layer: Layer) -> (Report, Tally) {
    let mut sum = Tally::default();
    for seed in seeds(&format!("{jdk:?}: waiting for answers of {walker}")) {
        let report = support::run_scenario(jdk, SCENARIO, seed, &["--walker", walker]).report;
        let counts = report.layer(layer).expect("the layer is in the report");
        sum += &counts.tally();
        if sum.decided() + sum.errors() >= ANSWERS {
            println!("{jdk:?}: {walker}: {sum:?}");
            return (report, sum);
        }
    }
    unreachable!("the deadline ends this")
}

#[test]
fn a_function_is_judged_in_place_of_the_walker() {
    let dir = tempfile::tempdir().unwrap();
    let Some(library) = c_library(SOURCE, dir.path()) else {
        return;
    };
    let library = library.display();
    on_each_jdk(|jdk| {
        for honest in [format!("{library}:right"), "jvm:AsyncGetCallTrace".into()] {
            let (_, sum) = judged(jdk, &honest, Layer::AsgctSafepoint);
            assert!(share(&sum) < BUDGET, "{jdk:?} {honest}: {sum:?}");
        }
        let (report, sum) = judged(jdk, &format!("{library}:cutting"), Layer::AsgctSafepoint);
        // One stack of ten is cut; those of up to three frames are not.
        assert!(share(&sum) > 5.0 * BUDGET, "{jdk:?}: {sum:?}");
        let notes = report.runs[0].notes.join("\n");
        assert!(notes.contains("cutting of"), "{notes}");

        let silent = format!("asgst={library}:silent");
        let (_, sum) = judged(jdk, &silent, Layer::AsgstSafepoint);
        assert_eq!(
            (sum.error[&-3], sum.decided()),
            (sum.errors(), 0),
            "{jdk:?}: {sum:?}"
        );
    });
}

#[test]
fn a_function_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let Some(library) = c_library(SOURCE, dir.path()) else {
        return;
    };
    on_each_jdk(|jdk| {
        let place = support::Place::on(jdk);
        let walker = format!("{}:absent", library.display());
        place
            .run(&format!("run --quick --walker {walker} --out out"))
            .ended(3);
        let said = place.read("out/runs/001-fixtures/stderr.txt");
        assert!(said.contains("there is no absent of"), "{said}");
    });
}
