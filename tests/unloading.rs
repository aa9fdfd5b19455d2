//! Endless loading and unloading of classes: the agent forgets unloaded classes.

mod support;

use oracle::record::Rewriting;
use std::path::Path;
use support::{Deadline, on_each_jdk, report, run, stackwitness};

/// The rewriter's counts, after classes were loaded and unloaded for this many seconds.
fn unload(jdk: &Path, dir: &Path, seconds: u32) -> Rewriting {
    let scenario = dir.join("unloading.toml");
    let text = format!(
        "name = 'unloading'\n[sampling]\nno_pause = true\ncheck_share = 0.01\n[[program]]\nname = 'p'\n\
         baseline = false\nfixtures = {{ names = ['class-unloading'], seconds = {seconds} }}\n"
    );
    std::fs::write(&scenario, text).unwrap();
    let out = dir.join("out");
    let output = run(stackwitness()
        .args(["run", "--scenario"])
        .arg(&scenario)
        .arg("--jdk")
        .arg(jdk)
        .arg("--out")
        .arg(&out));
    let run = &report(&out).runs[0];
    assert_eq!(run.exit, oracle::report::Exit::Code(0), "{output:?}");
    assert_eq!(run.invalid, None, "{output:?}");
    run.rewriting.clone().expect("the JVM ended")
}

/// The number of methods of unloaded classes that shows whether they are forgotten.
const ENOUGH: u64 = 1000;

#[test]
fn methods_of_unloaded_classes_are_forgotten() {
    on_each_jdk(|jdk| {
        let dir = tempfile::tempdir().unwrap();
        let short = unload(jdk, dir.path(), 1);
        let deadline = Deadline::new(format!("{jdk:?}: loading {ENOUGH} methods more"));
        let mut longer = (1..).map(|turn| unload(jdk, dir.path(), 5 * turn));
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
