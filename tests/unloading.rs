//! Endless loading and unloading of classes: the agent forgets unloaded classes, and has ids made only as long as
//! those of unloaded classes do not fill the memory.

mod support;

use oracle::Layer;
use oracle::record::Rewriting;
use oracle::report::Run;
use std::path::Path;
use support::{Deadline, on_each_jdk, report, run, stackwitness};

/// A run of a fixture that loads and unloads classes for this many seconds, and what it printed.
fn unload(jdk: &Path, dir: &Path, fixture: &str, seconds: u32) -> (Run, String) {
    let scenario = dir.join("unloading.toml");
    let text = format!(
        "name = 'unloading'\n[sampling]\nno_pause = true\ncheck_share = 0.01\n[[program]]\nname = 'p'\n\
         baseline = false\nfixtures = {{ names = ['{fixture}'], seconds = {seconds} }}\n"
    );
    std::fs::write(&scenario, text).unwrap();
    let out = dir.join("out");
    let output = run(stackwitness()
        .args(["run", "-v", "--scenario"])
        .arg(&scenario)
        .arg("--jdk")
        .arg(jdk)
        .arg("--out")
        .arg(&out));
    let run = report(&out).runs.remove(0);
    assert_eq!(run.exit, oracle::report::Exit::Code(0), "{output:?}");
    assert_eq!(run.invalid, None, "{output:?}");
    (run, output.stdout)
}

/// The rewriter's counts after so many seconds of the fixture `class-unloading`.
fn rewriting(jdk: &Path, dir: &Path, seconds: u32) -> Rewriting {
    let (run, _) = unload(jdk, dir, "class-unloading", seconds);
    run.rewriting.expect("the JVM ended")
}

/// The number of methods of unloaded classes that shows whether they are forgotten: several times as many as the collector
/// may be behind, which was 1,200 on a busy machine.
const ENOUGH: u64 = 5000;

#[test]
fn methods_of_unloaded_classes_are_forgotten() {
    on_each_jdk(|jdk| {
        let dir = tempfile::tempdir().unwrap();
        let short = rewriting(jdk, dir.path(), 1);
        let deadline = Deadline::new(format!("{jdk:?}: loading {ENOUGH} methods more"));
        let mut longer = (1..).map(|turn| rewriting(jdk, dir.path(), 5 * turn));
        let (long, hooked) = loop {
            deadline.check();
            let long = longer.next().expect("endless");
            let hooked = long.methods_hooked.saturating_sub(short.methods_hooked);
            if hooked > ENOUGH {
                break (long, hooked);
            }
        };
        println!("{}: {short:?}\n{long:?}", jdk.display());
        let kept = long.methods_known.saturating_sub(short.methods_known);
        // The collector is always a few loaders behind. If nothing were forgotten, both numbers
        // would be equal.
        assert!(kept < hooked / 2, "{short:?} {long:?}");
    });
}

/// HotSpot frees the ids of unloaded classes from JDK 26 on.
const FREES_IDS: u32 = 26;

#[test]
fn ids_of_unloaded_classes_do_not_fill_the_memory() {
    on_each_jdk(|jdk| {
        if test_support::feature(jdk).is_some_and(|feature| feature >= FREES_IDS) {
            println!("skipped: {jdk:?} frees the ids of unloaded classes");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let deadline = Deadline::new(format!("{jdk:?}: unloading 28,000 classes"));
        let fixture = "loader-generations";
        let mut longer = (1..).map(|turn| unload(jdk, dir.path(), fixture, 20 * turn));
        let (run, printed) = loop {
            deadline.check();
            let (run, printed) = longer.next().expect("endless");
            let rewriting = run.rewriting.as_ref().expect("the JVM ended");
            if rewriting.classes_without_ids > 1000 {
                break (run, printed);
            }
        };
        assert!(printed.contains("classes got no method IDs"), "{printed}");
        let of = |layer| run.layers.iter().find(|counts| counts.layer == layer);
        for layer in [Layer::Ground, Layer::Gst] {
            let counts = of(layer).expect("a usual layer");
            assert!(counts.matches > 0, "{counts:?}");
            assert_eq!(counts.wrong + counts.truncated, 0, "{counts:?}");
        }
    });
}
