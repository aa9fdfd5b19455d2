//! Value classes (JEP 401, a preview of JDK 28): hooks in them, and walks of code that passes their fields. C2 makes room for the
//! fields in the frame of the callee, so that a frame may be larger than its code says.

use crate::support::{self, jdks, run_scenario, seeds};
use oracle::Layer;
use oracle::record::CauseName;
use oracle::report::Exit;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use test_support::feature;

/// The hooks tell the truth, GetStackTrace agrees, and our walker shows no false frame and always answers at a check.
#[test]
fn values_in_arguments_and_returns_are_walked() {
    const SOURCE: &str = include_str!("Values.java");
    const ENOUGH: u64 = 100;
    const NO_ERROR: BTreeMap<i32, u64> = BTreeMap::new();
    for jdk in jdks() {
        let javac = jdk.join("bin/javac");
        if feature(&jdk).is_none_or(|feature| feature < 28) || !javac.is_file() {
            println!("skipped: {jdk:?} has no value classes, or no javac");
            continue;
        }
        let dir = tempfile::tempdir().expect("a folder");
        let source = dir.path().join("Values.java");
        fs::write(&source, SOURCE).expect("written");
        let release = feature(&jdk).expect("known").to_string();
        let mut compile = Command::new(javac);
        compile.args(["--enable-preview", "--release", &release, "-d"]);
        let compiled = support::run(compile.arg(dir.path()).arg(source));
        assert_eq!(compiled.code, Some(0), "{jdk:?}: {compiled:#?}");
        let kept =
            ["down", "up", "leaf"].map(|m| format!("-XX:CompileCommand=dontinline,Values::{m}"));
        let scenario = format!(
            "name = \"values\"\n\
             layers = [\"ground\", \"gst\", \"asgct-safepoint\", \"asgct-async\", \"asgst-safepoint\", \"asgst-async\"]\n\
             [[program]]\nname = \"program\"\nbaseline = false\n\
             jvm_args = [\"--enable-preview\", \"-XX:CompileCommand=quiet\", \"{}\"]\n\
             java = [\"-cp\", {:?}, \"Values\", \"8000\"]\n",
            kept.join("\", \""),
            dir.path()
        );
        let (mut checks, mut walks) = (0, 0);
        let (mut known, mut unexplained) = (0, 0);
        for seed in seeds(&format!("{jdk:?}: waiting for walks of values")) {
            let ran = run_scenario(&jdk, &scenario, seed, &[]);
            let of_run = &ran.report.runs[0];
            let ended = (&of_run.exit, &of_run.invalid);
            assert_eq!(ended, (&Exit::Code(0), &None), "{jdk:?}");
            let tally = |layer| {
                let counts = ran.report.layer(layer);
                counts.map(|counts| counts.tally()).unwrap_or_default()
            };
            for layer in [
                Layer::Ground,
                Layer::Gst,
                Layer::AsgstSafepoint,
                Layer::AsgstAsync,
            ] {
                let tally = tally(layer);
                assert_eq!(tally.mismatches(), 0, "{jdk:?}: {layer} {tally:?}");
            }
            let at_checks = tally(Layer::AsgstSafepoint);
            assert_eq!(at_checks.error, NO_ERROR, "{jdk:?}: {at_checks:?}");
            checks += tally(Layer::Gst).matches;
            walks += tally(Layer::AsgstAsync).matches;
            for mismatch in &ran.report.mismatches {
                let cause = mismatch.cause.as_ref().map(CauseName::as_str);
                *(if cause == Some("unexplained") {
                    &mut unexplained
                } else {
                    &mut known
                }) += 1;
            }
            let of_jvm = tally(Layer::AsgctSafepoint);
            println!(
                "{jdk:?}: {checks} checks, {walks} walks; AsyncGetCallTrace: {of_jvm:?}, {known} with a cause, \
                 {unexplained} unexplained"
            );
            if checks >= ENOUGH && walks >= ENOUGH {
                break;
            }
        }
        assert!(
            unexplained <= 1 + known / 10,
            "{jdk:?}: {known} have a cause, {unexplained} have none"
        );
    }
}
