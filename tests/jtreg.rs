//! The exported jtreg test: jtreg itself runs it, on an honest JVM and on one whose GetStackTrace loses frames.
//!
//! The test runs a small scenario in place of the exported one, which takes minutes.
#![cfg(target_arch = "x86_64")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::{Output, on_each_jdk, run, stackwitness};

/// A few seconds with checks in every layer. Only the budgets of 0 decide: so few checks are too few for another.
fn small() -> String {
    let text = include_str!("scenarios/small.toml");
    text.replacen("[budget]", "[budget]\nasgct-event = 1", 1)
}

/// Runs the test suite in `dir` on a JDK, with options of `stackwitness run`.
fn jtreg(dir: &Path, jdk: &Path, name: &str, options: &str) -> Output {
    run(Command::new("jtreg")
        .arg(format!("-jdk:{}", jdk.display()))
        .arg(format!(
            "-nativepath:{}",
            dir.join("suite/native").display()
        ))
        .arg(format!("-w:{}", dir.join(name).join("work").display()))
        .arg(format!("-r:{}", dir.join(name).join("report").display()))
        .arg(format!("-e:STACKWITNESS_OPTIONS={options}"))
        .arg("-v:all")
        .arg(dir.join("suite")))
}

#[test]
fn jtreg_passes_an_honest_jvm_and_fails_one_that_loses_frames() {
    if Command::new("jtreg").arg("-version").output().is_err() {
        println!("skipped: there is no jtreg (Debian: apt-get install jtreg7)");
        return;
    }
    on_each_jdk(|jdk| {
        if !jdk.join("bin/javac").exists() {
            println!("skipped: {}: jtreg needs javac", jdk.display());
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let exported = run(stackwitness()
            .args(["export", "--jtreg"])
            .arg(dir.path().join("suite")));
        assert_eq!(exported.code, Some(0), "{exported:#?}");
        fs::write(dir.path().join("suite/test.toml"), small()).unwrap();
        let honest = jtreg(dir.path(), jdk, "honest", "");
        assert_eq!(honest.code, Some(0), "{honest:#?}");
        assert!(
            honest.stdout.contains("Test results: passed: 1\n"),
            "{honest:#?}"
        );
        let faulty = jtreg(dir.path(), jdk, "faulty", "--fault drop-middle:gst:2");
        assert!(
            faulty.stdout.contains("Test results: failed: 1"),
            "{faulty:#?}"
        );
        assert!(faulty.stdout.contains("mismatch: gst "), "{faulty:#?}");
    });
}
