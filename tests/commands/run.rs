//! A scenario on every JDK: the layers on which all others rest must have no mismatch, and
//! deliberate faults of hooks must be caught.

use crate::support::{Deadline, Place, on_each_jdk};
use oracle::Layer;
use oracle::report::Exit;
use std::path::Path;

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/small.toml");

#[test]
fn ground_and_gst_are_clean_and_every_layer_has_checks() {
    on_each_jdk(|jdk| {
        let place = Place::on(jdk);
        let words = format!("run --scenario {SMALL} --seed 7 --out out");
        // A busy machine may leave a layer without data.
        let deadline = Deadline::new("data in every layer");
        let output = loop {
            let output = place.run(&words);
            if output.code != Some(3) {
                break output;
            }
            deadline.check();
        };
        assert_eq!(output.code, Some(0), "{jdk:?}: {output:#?}");
        assert_eq!(output.stderr, "", "nothing is told while nobody looks");

        let report = place.report("out");
        assert!(report.complete);
        let [origin] = &report.origins[..] else {
            panic!("{:?}", report.origins);
        };
        assert_eq!(origin.version, env!("CARGO_PKG_VERSION"));
        assert!(
            origin.command.iter().any(|word| word == SMALL),
            "{origin:?}"
        );
        assert_eq!(origin.scenario_sha256.as_ref().map(String::len), Some(64));
        assert!(origin.load_before.is_some() && origin.load_after.is_some());
        assert!(
            origin.seconds > 0.0 && !origin.processor.is_empty(),
            "{origin:?}"
        );
        assert_eq!(Path::new(&report.jdk.home), jdk.canonicalize().unwrap());
        for layer in Layer::usual() {
            let counts = report.layer(layer).unwrap();
            assert!(counts.tally().decided() > 0, "{jdk:?} {counts:?}");
            if matches!(layer, Layer::Ground | Layer::Gst) {
                assert_eq!(counts.tally().mismatches(), 0, "{jdk:?} {counts:?}");
            }
        }
        assert!(output.stdout.lines().count() <= 25, "{}", output.stdout);
        let last = output.stdout.lines().last().unwrap();
        let page = last.split_once("file://").expect("the page").1;
        assert!(Path::new(page).is_file(), "{last}");
        for run in &report.runs {
            assert_eq!(run.exit, Exit::Code(0));
            assert!(place.path("out").join(&run.dir).join("stdout.txt").exists());
        }
        assert_eq!(report.runs[0].seed, 7);
        let hooked = report
            .runs
            .iter()
            .map(|run| run.rewriting.as_ref().unwrap().methods_hooked);
        let hooked: Vec<_> = hooked.collect();
        assert!(hooked[0] > 0);
        assert_eq!(hooked[1], 0);
    });
}

#[test]
fn dropped_pops_are_caught() {
    on_each_jdk(|jdk| {
        let place = Place::on(jdk);
        let words = format!("run --scenario {SMALL} --hook-fault drop-pops --out out");
        place.run(&words).ended(1);
        let ground = &place.report("out").layers[0];
        assert_eq!(ground.layer, Layer::Ground);
        assert!(ground.wrong > 0, "{jdk:?}: {ground:?}");
    });
}
