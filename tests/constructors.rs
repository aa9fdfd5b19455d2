//! Exceptions that leave constructors: no hook can run at the call of `super(...)`, so the trace
//! stack has entries that may be stale. No sample may be `wrong` for this reason.

mod support;

use oracle::record::Mismatch;
use oracle::{Hooking, Layer};
use std::path::Path;
use support::jdks;

/// With C1 alone most of these samples interrupt the VM while it looks for handlers, and there the
/// walkers are right. Reflection by the VM itself catches exceptions between constructors.
fn scenario(hooks: Hooking) -> String {
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
        evidence_limit = 100000
        [[program]]
        name = "fixtures"
        hooks = "{hooks}"
        jvm_args = ["-XX:TieredStopAtLevel=1", "-Dsun.reflect.inflationThreshold=2147483647"]
        [program.fixtures]
        names = ["constructors-throw"]
        seconds = 6
        "#
    )
}

fn measure(jdk: &Path, hooks: Hooking) -> oracle::report::Report {
    let ran = support::run_scenario(jdk, &scenario(hooks), 1, &[]);
    assert_eq!(ran.code, Some(0), "{jdk:?}");
    ran.report
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
    for jdk in jdks() {
        for hooks in [Hooking::Exact, Hooking::Light] {
            let report = measure(&jdk, hooks);
            let of = |layer| report.layers.iter().find(|counts| counts.layer == layer);
            let tally = |layer| of(layer).unwrap().tally();
            let (gst, samples) = (tally(Layer::Gst), tally(Layer::AsgctAsync));
            println!("{}, {hooks} hooks: {samples:?}", jdk.display());
            assert!(samples.checks() >= 5_000, "{jdk:?}");
            assert!(samples.unverifiable > 0, "{jdk:?}: the rule was not needed");
            assert!(samples.unverifiable < samples.decided() / 4, "{jdk:?}");
            assert_eq!(
                (gst.mismatches(), tally(Layer::Ground).mismatches()),
                (0, 0),
                "{jdk:?}"
            );
            let stale: Vec<_> = report.mismatches.iter().filter(|m| is_stale(m)).collect();
            assert!(stale.is_empty(), "{jdk:?}: {} of {stale:#?}", stale.len());
        }
    }
}
