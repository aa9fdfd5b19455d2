//! Generated reports.

use oracle::budget::Budget;
use oracle::gate::{KnownIssue, KnownIssues};
use oracle::record::{Evidence, Mismatch, ShownFrame};
use oracle::report::{Exit, Jdk, LayerCounts, Report, Run, SCHEMA, sum_layers};
use oracle::tally::Tally;
use oracle::{Layer, Verdict};
use proptest::prelude::*;
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
            seed: 1,
            wall_s: 1.0,
            layers: layers
                .map(|(&at, tally)| LayerCounts::new(Layer::ALL[at], tally))
                .collect(),
            invalid,
            failed,
            dir: format!("runs/{number:03}"),
            axes: BTreeMap::from([("n".into(), number.to_string())]),
            ..Run::new("verdict: within budget", exit)
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

/// A report of up to three runs.
pub fn report() -> impl Strategy<Value = Report> {
    let runs = (0usize..4).prop_flat_map(|n| (0..n).map(run).collect::<Vec<_>>());
    let budget = prop_oneof![Just(0.0), Just(1e-3), Just(0.1)];
    let required = prop::sample::subsequence(Layer::ALL.to_vec(), 0..3);
    (runs, budget, required, prop::bool::weighted(0.9)).prop_map(
        |(runs, budget, required, complete)| Report {
            schema: SCHEMA,
            scenario: String::new(),
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
            statement_budget: Default::default(),
            required,
            planned: 0,
            skipped: vec![],
            origins: vec![],
        },
    )
}

/// Known issues, of which some cover mismatches of such a report.
pub fn known() -> impl Strategy<Value = KnownIssues> {
    let issue = (
        0..Layer::ALL.len(),
        prop_oneof![Just(0.0), Just(1e-3), Just(1.0)],
    );
    let issues = prop::collection::vec(issue, 0..4).prop_map(|all| {
        let all = all.into_iter();
        all.map(|(at, max_rate)| KnownIssue {
            id: format!("JDK-{at}"),
            layer: Layer::ALL[at],
            verdict: Verdict::Wrong,
            cause: None,
            place: Some("A.known".into()),
            jdk: None,
            flags: vec![],
            platform: None,
            max_rate,
            link: "https://example.org".into(),
        })
        .collect()
    });
    issues.prop_map(|issues| KnownIssues { issues })
}
