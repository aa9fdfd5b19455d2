//! A cause that is told by where a return address lies: the small program that triggers it.
#![cfg(target_arch = "x86_64")]

mod support;

use hotspot::causes::Cause;
use oracle::record::Mismatch;
use oracle::{Layer, Verdict};
use std::path::Path;
use support::jdks;

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
    jvm_args = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,stackwitness.fixtures.MovedStackPointer::*"]
    fixtures = { names = ["moved-stack-pointer"], seconds = 4 }
"#;

/// What compilers make of the program differs from run to run, and now and then no old return
/// address lies where it matters: so often it is run until one does.
const RUNS: u32 = 6;

/// The mismatches of this cause in the first run that has any in layer `call-edge`.
fn moved(jdk: &Path) -> Vec<Mismatch> {
    for _ in 0..RUNS {
        let ran = support::run_scenario(jdk, SCENARIO, 1, &[]);
        assert_eq!(ran.code, Some(0), "{jdk:?}");
        let mut found = ran.report.mismatches;
        found.retain(|mismatch| mismatch.cause == Some(Cause::MovedStackPointer.into()));
        if found.iter().any(|moved| moved.layer == Layer::CallEdge) {
            return found;
        }
    }
    panic!("{jdk:?}: none in {RUNS} runs");
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
        println!("skipped: this processor has no SSE 4.2");
        return;
    }
    for jdk in jdks() {
        let moved = moved(&jdk);
        println!("{}: {}", jdk.display(), moved.len());
        for mismatch in &moved {
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
