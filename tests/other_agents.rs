//! Java agents that change classes after our hooks are in them, or while the methods run. The maps of the
//! hooks and the class files are then of other code than that which runs. The agent must notice, say so, and
//! call nothing wrong that is not.

mod support;

use oracle::{Hooking, Layer};
use std::path::Path;
use support::on_each_jdk;

/// What the other agent does, as `OtherAgent.java` says, and our hooks.
const CASES: [(&str, Hooking); 5] = [
    ("insert", Hooking::Exact),
    ("pad", Hooking::Light),
    ("late", Hooking::Exact),
    ("insert", Hooking::None),
    ("late", Hooking::None),
];

fn scenario(jar: &Path, change: &str, hooks: Hooking) -> String {
    let layers = match hooks {
        Hooking::None => r#"["call-edge", "asgct-gst"]"#,
        Hooking::Exact | Hooking::Light => r#"["ground", "gst", "asgct-safepoint", "asgct-async"]"#,
    };
    let jar = jar.display();
    format!(
        r#"
        name = "other-agents"
        layers = {layers}
        [budget]
        asgct-async = 1
        asgct-safepoint = 1
        asgct-gst = 1
        call-edge = 1
        [sampling]
        check_share = 0.3
        no_pause = true
        gst_every = 8
        [[program]]
        name = "fixtures"
        hooks = "{hooks}"
        jvm_args = ["-javaagent:{jar}={change}"]
        [program.fixtures]
        names = ["math-parser", "switches", "try-finally", "exceptions-up", "constructors", "mutual-recursion"]
        seconds = 2
        "#
    )
}

#[test]
fn another_agent_is_noticed_and_accuses_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let jar = java_fixtures::write_to(dir.path()).unwrap().fixtures_jar;
    on_each_jdk(|jdk| {
        for (change, hooks) in CASES {
            measure(jdk, &jar, change, hooks);
        }
    });
}

fn measure(jdk: &Path, jar: &Path, change: &str, hooks: Hooking) {
    let ran = support::run_scenario(jdk, &scenario(jar, change, hooks), 1, &[]);
    let run = &ran.report.runs[0];
    let which = format!("{change}, {hooks} hooks, {}", jdk.display());
    assert_eq!(run.invalid, None, "{which}");
    let rewriting = run.rewriting.as_ref().unwrap();
    let (altered, examples) = (rewriting.methods_altered, &rewriting.altered_examples);
    println!("{which}: {altered} methods altered");
    // Retransformed methods count as redefined, and are noticed where a stack differs.
    if change != "late" {
        assert!(altered > 0, "{which}");
        assert!(!examples.is_empty(), "{which}");
    }
    let is_ours = |name: &String| name.starts_with("stackwitness.fixtures.");
    assert!(examples.iter().all(is_ours), "{which}: {examples:?}");
    for counts in &ran.report.layers {
        let (layer, tally) = (counts.layer, counts.tally());
        println!("{which}: {layer} {tally:?}");
        assert!(tally.checks() > 0, "{which}: {layer}");
        if matches!(layer, Layer::Ground | Layer::Gst) {
            assert_eq!(
                tally.mismatches(),
                0,
                "{which}: {:#?}",
                ran.report.mismatches
            );
        }
    }
    let impossible = run.edges.gst.edges.iter();
    let impossible: Vec<_> = impossible
        .filter(|(finding, _)| finding.contains("impossible"))
        .collect();
    assert!(impossible.is_empty(), "{which}: {impossible:?}");
}
