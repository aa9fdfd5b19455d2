//! Whatever a report holds: text, Markdown, HTML and JUnit XML tell the outcome of the decision,
//! and so the exit code.

use oracle::Layer;
use oracle::Verdict;
use oracle::budget::Budget;
use oracle::gate::{Baseline, Decision, Detect, Judging, KnownIssue, KnownIssues, Rule, decide};
use oracle::outcome::Outcome;
use oracle::record::{Evidence, Mismatch, ShownFrame};
use oracle::report::{Exit, Jdk, LayerCounts, Report, Run, SCHEMA, sum_layers};
use oracle::tally::Tally;
use proptest::prelude::*;
use reports::render::Style;
use reports::{Format, render};
use std::collections::BTreeMap;

fn exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        8 => Just(Exit::Code(0)),
        1 => Just(Exit::Code(7)),
        1 => Just(Exit::Signal(11)),
        1 => Just(Exit::Deadline),
        1 => Just(Exit::Interrupted),
    ]
}

/// Counts of one layer: often none, and mismatches around the budget.
fn tally() -> impl Strategy<Value = Tally> {
    let matches = prop_oneof![Just(0), 1u64..100, 1000u64..100_000];
    let few = || prop_oneof![3 => Just(0u64), 1 => 1u64..4];
    let counts = (matches, few(), few(), few(), 0u64..3, 0u64..200);
    counts.prop_map(
        |(matches, wrong, truncated, imprecise, unverifiable, errors)| Tally {
            matches,
            wrong,
            truncated,
            imprecise,
            unverifiable,
            error: [(-5, errors)].into(),
            ..Tally::default()
        },
    )
}

fn run(number: usize) -> impl Strategy<Value = Run> {
    let tallies = prop::collection::btree_map(0..Layer::ALL.len(), tally(), 0..4);
    let trouble = || prop_oneof![8 => Just(None), 1 => Just(Some("it <failed>".to_owned()))];
    (exit(), tallies, trouble(), trouble()).prop_map(move |(exit, tallies, invalid, failed)| {
        let layers = tallies.iter();
        Run {
            scenario: "verdict: within budget".into(),
            java_args: vec![],
            hooks: None,
            seed: 1,
            exit,
            wall_s: 1.0,
            cost: None,
            layers: layers
                .map(|(&at, tally)| LayerCounts::new(Layer::ALL[at], tally))
                .collect(),
            rewriting: None,
            invalid,
            failed,
            dir: format!("runs/{number:03}"),
            jdk: None,
            axes: BTreeMap::from([("n".into(), number.to_string())]),
            notes: vec![],
            errors: vec![],
            kinds: vec![],
            profile: Default::default(),
            edges: Default::default(),
            class_data: None,
        }
    })
}

/// Each mismatch that the counts have, written down.
fn mismatches(runs: &[Run]) -> Vec<Mismatch> {
    let of_layer = |run: &Run, counts: &LayerCounts| {
        let one = Mismatch {
            layer: counts.layer,
            verdict: Verdict::Wrong,
            reason: "other method".into(),
            thread: "main".into(),
            walker: vec![ShownFrame {
                method: "A.known()V".into(),
                ..ShownFrame::default()
            }],
            truth: vec![],
            at_frame: Some(0),
            cause: None,
            evidence: Evidence {
                run: Some(run.dir.clone()),
                ..Evidence::default()
            },
        };
        vec![one; (counts.wrong + counts.truncated) as usize]
    };
    let of_run = |run: &Run| {
        run.layers
            .iter()
            .flat_map(|c| of_layer(run, c))
            .collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

fn report() -> impl Strategy<Value = Report> {
    let runs = (0usize..4).prop_flat_map(|n| (0..n).map(run).collect::<Vec<_>>());
    let budget = prop_oneof![Just(0.0), Just(1e-3), Just(0.1)];
    let required = prop::sample::subsequence(Layer::ALL.to_vec(), 0..3);
    (runs, budget, required, prop::bool::weighted(0.9)).prop_map(
        |(runs, budget, required, complete)| Report {
            schema: SCHEMA,
            jdk: Jdk {
                version: "17.0.1".into(),
                ..Jdk::default()
            },
            complete,
            layers: sum_layers(&runs),
            mismatches: mismatches(&runs),
            runs,
            budget: Budget(Layer::ALL.map(|layer| (layer, budget)).into()),
            imprecise_budget: Budget(Layer::ALL.map(|layer| (layer, budget)).into()),
            required,
            planned: 0,
            skipped: vec![],
        },
    )
}

fn known() -> impl Strategy<Value = KnownIssues> {
    let issue = (
        0..Layer::ALL.len(),
        prop_oneof![Just(0.0), Just(1e-3), Just(1.0)],
    );
    let issues = prop::collection::vec(issue, 0..4).prop_map(|all| {
        let all = all.into_iter();
        all.map(|(at, max_rate)| KnownIssue {
            id: format!("JDK-{at}"),
            jdk: None,
            platform: None,
            layer: Layer::ALL[at],
            signature: "A.known".into(),
            max_rate,
            link: "https://example.org".into(),
        })
        .collect()
    });
    issues.prop_map(|issues| KnownIssues { issues })
}

/// The outcome that each format tells, read from the rendering alone.
fn told(report: &Report, decision: &Decision) -> [String; 4] {
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
    ]
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
