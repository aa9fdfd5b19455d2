//! Exact hooks, of which many run in Java where threads run many of them.

use crate::support::{self, jdks, seeds};
use oracle::Layer;
use oracle::record::CauseName;

/// Exceptions, recursions, and threads that end at once.
const FIXTURES: [&str; 5] = [
    "math-parser",
    "mutual-recursion",
    "exceptions-up",
    "constructors-throw",
    "short-threads",
];

#[test]
fn the_trace_stack_is_whole_where_hooks_run_in_java_and_natively_by_turns() {
    let scenario = format!(
        "name = \"hooks\"\nlayers = [\"ground\", \"gst\", \"asgct-safepoint\"]\n\
         [[program]]\nname = \"program\"\nbaseline = false\n\
         fixtures = {{ names = {FIXTURES:?}, seconds = 6 }}\n"
    );
    for jdk in jdks() {
        let (mut in_java, mut checks) = (0, 0);
        for seed in seeds(&format!("{jdk:?}: waiting for hooks in Java, and checks")) {
            let ran = support::run_well(&jdk, &scenario, seed, &[]);
            let of_run = &ran.report.runs[0];
            for layer in [Layer::Ground, Layer::Gst] {
                let counts = ran.report.layer(layer);
                let tally = counts.map(|counts| counts.tally()).unwrap_or_default();
                assert_eq!(tally.mismatches(), 0, "{jdk:?}: {layer} {tally:?}");
                checks += u64::from(layer == Layer::Gst) * tally.matches;
            }
            // What AsyncGetCallTrace itself gets wrong has a cause in the JVM.
            for kind in &of_run.kinds {
                let cause = kind.cause.as_ref().map(CauseName::as_str);
                assert_ne!(cause, Some("unexplained"), "{jdk:?}: {kind:?}");
            }
            let rewriting = of_run.rewriting.as_ref().expect("a run with hooks");
            assert!(rewriting.hooks_native > 0, "{jdk:?}: {rewriting:?}");
            in_java += rewriting.hooks_in_java;
            // Each hook that pops counts, wherever it ran.
            let ground = ran.report.layer(Layer::Ground).expect("counts").tally();
            let pops = (rewriting.hooks_in_java + rewriting.hooks_native) / 2;
            assert!(ground.checks() >= pops / 2, "{jdk:?}: {ground:?}, {pops}");
            if in_java >= 1_000_000 && checks >= 200 {
                break;
            }
        }
    }
}
