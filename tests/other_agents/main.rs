//! Java agents that change classes after our hooks are in them, or while the methods run. The maps of the
//! hooks and the class files are then of other code than that which runs. The agent must notice, say so, and
//! call nothing wrong that is not. And native agents that sample by signals, whose handlers are no part of the program.

#[path = "../support/mod.rs"]
mod support;

use oracle::{Hooking, Layer};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::{Deadline, c_library, on_each_jdk};

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
        baseline = false
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
    assert_eq!(impossible(&run.edges.gst.edges), [], "{which}");
}

fn impossible(edges: &BTreeMap<String, u64>) -> Vec<(&String, &u64)> {
    let edges = edges.iter();
    edges
        .filter(|(finding, _)| finding.contains("impossible"))
        .collect()
}

/// Before the program runs, an agent makes hidden classes of the name that the program's hidden classes have, too.
#[test]
fn hidden_classes_of_one_name_are_told_apart() {
    const STACKS: u64 = 1000;
    const SCENARIO: &str = r#"
        name = "hidden"
        layers = ["call-edge", "asgct-gst"]
        [budget]
        asgct-gst = 1
        call-edge = 1
        [sampling]
        no_pause = true
        gst_every = 1
        [[program]]
        name = "handles"
        hooks = "none"
        baseline = false
        fixtures = { names = ["method-handles"], seconds = 3 }
    "#;
    let dir = tempfile::tempdir().unwrap();
    let jar = java_fixtures::write_to(dir.path()).unwrap().fixtures_jar;
    fs::write(dir.path().join("hidden.toml"), SCENARIO).unwrap();
    on_each_jdk(|jdk| {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for stacks"));
        let mut stacks = 0;
        while stacks < STACKS {
            deadline.check();
            let out = tempfile::tempdir().unwrap();
            let mut command = support::stackwitness();
            // The agents of this variable come first.
            let before = format!("-javaagent:{}=handles", jar.display());
            command.env("JAVA_TOOL_OPTIONS", before);
            command.current_dir(&dir);
            command.args(["run", "--scenario", "hidden.toml", "--jdk"]);
            let output = support::run(command.arg(jdk).arg("--out").arg(out.path()));
            assert!(matches!(output.code, Some(0 | 3)), "{jdk:?}: {output:#?}");
            let found = &support::report(out.path()).runs[0].edges.gst;
            assert_eq!(impossible(&found.edges), [], "{jdk:?}");
            stacks += found.stacks;
        }
    });
}

/// A native agent's handler takes half of the program's CPU time. An instant in it is no check, and accuses nobody.
#[test]
fn an_instant_in_the_handler_of_another_agent_is_no_check() {
    const MET: u64 = 200;
    let dir = tempfile::tempdir().unwrap();
    let Some(agent) = c_library("tests/other_agents/busy.c", dir.path()) else {
        return;
    };
    let scenario = format!(
        r#"
        name = "handlers"
        layers = ["ground", "gst", "asgct-async"]
        [budget]
        asgct-async = 1
        [sampling]
        no_pause = true
        [[program]]
        name = "fixtures"
        baseline = false
        jvm_args = ["-agentpath:{}"]
        fixtures = {{ names = ["math-parser", "switches"], seconds = 2 }}
        "#,
        agent.display()
    );
    on_each_jdk(|jdk| {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for instants in handlers"));
        let (mut met, mut seed) = (0, 1);
        while met < MET {
            deadline.check();
            let report = support::run_scenario(jdk, &scenario, seed, &[]).report;
            let run = &report.runs[0];
            met += run.in_handlers.get("libbusy.so").copied().unwrap_or(0);
            // Evidence and errors name the library in which the thread was.
            for mismatch in &report.mismatches {
                let shown = serde_json::to_string(mismatch).unwrap();
                assert!(!shown.contains("libbusy.so"), "{jdk:?}: {shown}");
            }
            let errors = format!("{:?}", run.errors);
            assert!(!errors.contains("libbusy.so"), "{jdk:?}: {errors}");
            let tally = report.layer(Layer::AsgctAsync).unwrap().tally();
            println!("{jdk:?}: {tally:?}, in handlers: {:?}", run.in_handlers);
            seed += 1;
        }
    });
}
