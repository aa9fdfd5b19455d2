//! Native threads that attach themselves: the VM reports no class that such a thread prepares, and no stack
//! may be called wrong for that.

mod support;

use oracle::{Hooking, Layer};
use support::on_each_jdk;

/// The first thread without a name attaches itself here, and prepares the class that names threads.
fn scenario(hooks: Hooking) -> String {
    format!(
        r#"
        name = "attaching"
        layers = ["ground", "gst"]
        [sampling]
        check_share = 0.8
        no_pause = true
        [[program]]
        name = "fixtures"
        baseline = false
        hooks = "{hooks}"
        fixtures = {{ names = ["upcalls", "native-calls", "timers"], seconds = 3 }}
        "#
    )
}

#[test]
fn classes_that_attaching_threads_prepare_are_known() {
    on_each_jdk(|jdk| {
        for hooks in [Hooking::Exact, Hooking::Light] {
            let ran = support::run_scenario(jdk, &scenario(hooks), 1, &[]);
            // The agent samples here, too: layers of suspended threads would need the samples.
            let layers = [Layer::Ground, Layer::Gst];
            let mut written = ran.report.mismatches.iter();
            assert!(written.all(|found| layers.contains(&found.layer)));
            for layer in layers {
                let tally = ran.report.layer(layer).unwrap().tally();
                println!("{}, {hooks} hooks: {layer} {tally:?}", jdk.display());
                assert!(tally.checks() > 0, "{jdk:?} {layer}");
                let found = &ran.report.mismatches;
                assert_eq!(tally.mismatches(), 0, "{jdk:?} {layer}: {found:#?}");
            }
        }
    });
}
