//! Whatever a report holds: text, Markdown, HTML, JUnit XML and annotations tell the outcome of the
//! decision, and so the exit code.

mod generated;

use generated::{known, report};
use oracle::gate::{Baseline, Decision, Detect, Judging, Rule, decide};
use oracle::outcome::Outcome;
use oracle::report::Report;
use proptest::prelude::*;
use reports::render::Style;
use reports::{Format, render};

/// The outcome that each format tells, read from the rendering alone.
fn told(report: &Report, decision: &Decision) -> [String; 5] {
    let shown = |format| render(report, decision, "report.json", format);
    let after = |text: &str, start: &str| {
        let line = text.lines().rfind(|line| line.starts_with(start));
        line.map_or("nothing".into(), |line| line[start.len()..].to_owned())
    };
    let html = shown(Format::Html);
    let class = html.split("<p class=\"verdict ").nth(1).unwrap_or_default();
    let class = class.split('"').next().unwrap_or_default();
    let of_class = Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.name() == class);
    [
        after(&shown(Format::Text(Style::Plain)), "verdict: "),
        after(&shown(Format::Markdown), "## Stackwitness: "),
        of_class.map_or("nothing".into(), |outcome| outcome.to_string()),
        junit(&shown(Format::Junit)),
        annotations(&shown(Format::Annotations)),
    ]
}

/// What the titles of annotations tell: those of errors, if there are any.
fn annotations(lines: &str) -> String {
    const TITLE: &str = " title=Stackwitness%3A ";
    let of = |command: &str| {
        let mut lines = lines.lines().filter_map(|line| line.strip_prefix(command));
        let title = lines.find_map(|line| line.strip_prefix(TITLE));
        title.and_then(|title| title.split("::").next())
    };
    match (of("::error"), of("::notice")) {
        (Some(error), _) if error != Outcome::Within.to_string() => error.into(),
        (None, Some(notice)) => notice.into(),
        _ => "nothing".into(),
    }
}

/// What the test case `verdict` tells. A CI system sees all cases; so no case may fail or have an
/// error if that one passed.
fn junit(xml: &str) -> String {
    let verdict = xml.lines().find(|line| line.contains("name=\"verdict\""));
    let verdict = verdict.unwrap_or_default();
    let message = verdict.split(" message=\"").nth(1).unwrap_or_default();
    let message = message.split('"').next().unwrap_or_default();
    // After the outcome comes what is new.
    let message = message.split(": ").next().unwrap_or_default();
    let all_well = !xml.contains("<error ") && !xml.contains("<failure ");
    match (verdict.contains("<failure "), verdict.contains("<error ")) {
        (false, false) if all_well => Outcome::Within.to_string(),
        (false, false) => "a failure elsewhere".into(),
        (failed, _) if failed != (message == Outcome::Over.to_string()) => "no failure".into(),
        _ => message.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_format_shows_the_decision(
        report in report(), known in known(), others in prop::collection::vec(report(), 0..4),
        detect in prop::option::of(prop_oneof![Just(1e-6), Just(0.5)]),
    ) {
        let bounds = Rule::UpperBounds { known: &known, platform: "x86_64" };
        let mut baseline = Baseline::default();
        for other in &others {
            // Those that did not go well are no part of a baseline.
            _ = baseline.add_report(other, "x86_64");
        }
        let judging = Judging { alpha: 0.01 };
        let detect = detect.map(Detect);
        let since = Rule::Baseline { baseline: &baseline, known: &known, platform: "x86_64", judging, detect };
        for rule in [Rule::ObservedRates, bounds, since] {
            let decision = decide(&report, rule);
            let expected = decision.outcome.to_string();
            for told in told(&report, &decision) {
                prop_assert_eq!(&told, &expected, "{:?}", decision);
            }
            prop_assert_eq!(decision.reasons.is_empty(), decision.outcome == Outcome::Within);
        }
    }
}
