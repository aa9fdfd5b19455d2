//! A cause that is told by where a return address lies: the small program that triggers it.
#![cfg(target_arch = "x86_64")]

mod support;

use oracle::cause::Cause;
use oracle::record::Mismatch;
use oracle::{Layer, Verdict};
use std::path::Path;
use support::{jdks, report, run, stackwitness};

const SCENARIO: &str = r#"
    name = "moved"
    [budget]
    asgct-gst = 1
    call-edge = 1
    [sampling]
    interval_us = 50
    [[program]]
    name = "strings"
    hooks = "none"
    baseline = false
    fixtures = { names = ["moved-stack-pointer"], seconds = 4 }
"#;

fn measure(jdk: &Path) -> oracle::report::Report {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("moved.toml");
    std::fs::write(&file, SCENARIO).unwrap();
    let out = dir.path().join("out");
    let mut command = stackwitness();
    command.args(["run", "--seed", "1", "--scenario"]).arg(file);
    command.arg("--jdk").arg(jdk).arg("--out").arg(&out);
    let output = run(&mut command);
    assert_eq!(output.code, Some(0), "{jdk:?}: {output:#?}");
    report(&out)
}

/// How far above the stack pointer `key` says that the return address is, in words.
fn words(mismatch: &Mismatch, key: &str) -> u32 {
    let text = &mismatch.evidence[key];
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_moved_stack_pointer_is_told_by_its_return_address() {
    // Else C2 has no instructions of its own for searches (flag `UseSSE42Intrinsics`).
    if !std::is_x86_feature_detected!("sse4.2") {
        return;
    }
    for jdk in jdks() {
        let report = measure(&jdk);
        let of_cause = |mismatch: &&Mismatch| mismatch.cause == Some(Cause::MovedStackPointer);
        let moved: Vec<_> = report.mismatches.iter().filter(of_cause).collect();
        println!("{}: {}", jdk.display(), moved.len());
        assert!(
            moved.iter().any(|m| m.layer == Layer::CallEdge),
            "{jdk:?}: {:?}",
            report.layers
        );
        for mismatch in moved {
            let expected = words(mismatch, "return_address_by_frame_size");
            let found = words(mismatch, "return_address");
            assert!(found > expected, "{mismatch:#?}");
            assert!(matches!(
                mismatch.verdict,
                Verdict::Wrong | Verdict::Truncated
            ));
        }
    }
}
