//! Exceptions that leave constructors: no hook can run at the call of `super(...)`, so the trace
//! stack has entries that may be stale. No sample may be `wrong` for this reason.

mod support;

use oracle::record::Mismatch;
use oracle::report::Report;
use oracle::tally::Tally;
use oracle::{Hooking, Layer};
use std::path::Path;
use support::{on_each_jdk, seeds};

/// With C1 alone most of these samples interrupt the VM while it looks for handlers, and there the
/// walkers are right. Reflection by the VM itself catches exceptions between constructors.
fn scenario(hooks: Hooking, probability: f64) -> String {
    format!(
        r#"
        name = "constructors"
        layers = ["ground", "gst", "asgct-async"]
        [budget]
        asgct-async = 1
        [sampling]
        check_share = 0.3
        no_pause = true
        gst_every = 0
        probability = {probability:?}
        evidence_limit = 100000
        [[program]]
        name = "fixtures"
        baseline = false
        hooks = "{hooks}"
        jvm_args = ["-XX:TieredStopAtLevel=1", "-Dsun.reflect.inflationThreshold=2147483647"]
        [program.fixtures]
        names = ["constructors-throw"]
        seconds = 6
        "#
    )
}

/// The samples that a run must have.
const ENOUGH: u64 = 5_000;

/// The first run with enough samples. Each method is hooked with the probability.
fn measure(jdk: &Path, hooks: Hooking, probability: f64) -> Report {
    for seed in seeds(&format!("{jdk:?}: {ENOUGH} samples")) {
        let ran = support::run_scenario(jdk, &scenario(hooks, probability), seed, &[]);
        if tally(&ran.report, Layer::AsgctAsync).checks() >= ENOUGH {
            assert_eq!(ran.code, Some(0), "{jdk:?}");
            return ran.report;
        }
    }
    unreachable!("the seeds do not end")
}

fn tally(report: &Report, layer: Layer) -> Tally {
    report.layer(layer).unwrap().tally()
}

/// Whether the walk lacks constructors and nothing else, while the thread is in the VM and the last
/// Java code is of a kind that walkers read correctly.
fn is_stale(mismatch: &Mismatch) -> bool {
    let state = mismatch.evidence.state.as_deref();
    let code = mismatch.evidence.last_java_code.as_deref();
    let is_read_right =
        state == Some("in the VM") && code.is_none_or(|code| code.contains("nmethod"));
    let mut walk = mismatch.walker.iter().map(|frame| &frame.method);
    let mut stale = 0;
    for entry in mismatch.truth.iter().map(|frame| &frame.method) {
        match walk.clone().position(|method| method == entry) {
            Some(at) => _ = walk.nth(at),
            None if entry.contains(".<init>") => stale += 1,
            None => return false,
        }
    }
    is_read_right && stale > 0
}

#[test]
fn no_sample_is_wrong_for_a_constructor_that_an_exception_left() {
    on_each_jdk(|jdk| {
        for hooks in [Hooking::Exact, Hooking::Light] {
            let report = measure(jdk, hooks, 1.0);
            let (ground, gst) = (tally(&report, Layer::Ground), tally(&report, Layer::Gst));
            let samples = tally(&report, Layer::AsgctAsync);
            println!("{}, {hooks} hooks: {samples:?}", jdk.display());
            assert!(samples.unverifiable > 0, "{jdk:?}: the rule was not needed");
            assert!(samples.unverifiable < samples.decided() / 4, "{jdk:?}");
            assert_eq!((gst.mismatches(), ground.mismatches()), (0, 0), "{jdk:?}");
            let stale: Vec<_> = report.mismatches.iter().filter(|m| is_stale(m)).collect();
            assert!(stale.is_empty(), "{jdk:?}: {} of {stale:#?}", stale.len());
        }
        // What an exception leaves need not be hooked.
        let part = measure(jdk, Hooking::Exact, 0.4);
        for layer in [Layer::Ground, Layer::Gst] {
            let found = tally(&part, layer);
            println!("{}, a part hooked: {layer} {found:?}", jdk.display());
            assert!(found.checks() > 0, "{jdk:?} {layer}");
            assert_eq!(
                found.mismatches(),
                0,
                "{jdk:?} {layer}: {:#?}",
                part.mismatches
            );
        }
    });
}
