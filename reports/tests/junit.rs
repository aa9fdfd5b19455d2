//! JUnit XML as CI systems read it: by a schema, and by a reader that is not ours.

mod generated;

use generated::{known, report};
use junit_parser::TestStatus;
use oracle::gate::{Rule, decide};
use oracle::outcome::Outcome;
use oracle::report::Report;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reports::{Format, render};
use std::fs;
use std::process::Command;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/junit.xsd");

/// A report as JUnit XML, with its outcome.
fn shown(report: &Report, rule: Rule<'_>) -> (String, Outcome) {
    let decision = decide(report, rule, &[]);
    let xml = render(report, &decision, "report.json", Format::Junit);
    (xml, decision.outcome)
}

#[test]
fn the_schema_holds() {
    let version = Command::new("xmllint").arg("--version").output();
    if version.is_err() {
        println!("skipped: no xmllint (apt-get install libxml2-utils)");
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let mut runner = TestRunner::deterministic();
    let mut check = Command::new("xmllint");
    check.args(["--noout", "--schema", SCHEMA]);
    for number in 0..100 {
        let report = report().new_tree(&mut runner).expect("a report").current();
        let file = dir.path().join(format!("{number}.xml"));
        fs::write(&file, shown(&report, Rule::ObservedRates).0).expect("a file");
        check.arg(file);
    }
    let output = check.output().expect("xmllint runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}

proptest! {
    #[test]
    fn another_reader_finds_the_outcome(report in report(), known in known()) {
        let rule = Rule::UpperBounds { known: &known, platform: "x86_64" };
        let (xml, outcome) = shown(&report, rule);
        let suites = junit_parser::from_reader(xml.as_bytes());
        let suites = suites.map_err(|e| TestCaseError::fail(format!("{e}: {xml}")))?.suites;
        let cases: Vec<_> = suites.iter().flat_map(|suite| &suite.cases).collect();
        let verdict = cases.iter().find(|case| case.original_name == "verdict");
        let verdict = verdict.map(|case| &case.status);
        let as_expected = match outcome {
            Outcome::Within => matches!(verdict, Some(TestStatus::Success)),
            Outcome::Over => matches!(verdict, Some(TestStatus::Failure(_))),
            Outcome::NotMeasured | Outcome::Crashed => matches!(verdict, Some(TestStatus::Error(_))),
        };
        prop_assert!(as_expected, "{:?} {}", outcome, xml);
        let is_bad = |status: &TestStatus| matches!(status, TestStatus::Failure(_) | TestStatus::Error(_));
        let any_bad = cases.iter().any(|case| is_bad(&case.status));
        prop_assert_eq!(any_bad, outcome != Outcome::Within);
    }
}
