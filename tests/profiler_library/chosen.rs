//! The profiler is asked at instants that Stackwitness chooses: by its signal, and at instructions of threads that run one
//! instruction at a time.

use super::{JOINED, Ours};
use crate::support::{self, Deadline, jdks};
use oracle::Layer;
use oracle::record::JoinCounts;
use oracle::tally::Tally;
use std::path::Path;

const INSTANTS: &str = r#"
    name = "profiler-instants"
    layers = ["ground", "gst", "profiler"]
    [budget]
    profiler = 1
    [imprecise_budget]
    profiler = 1
    [sampling]
    chosen_instants = true
    interval_us = 100
    gst_every = 0
    check_share = 0.05
    [[program]]
    name = "calls"
    baseline = false
    fixtures = { names = ["mutual-recursion", "math-parser"], seconds = 4 }
"#;

const STEPS: &str = r#"
    name = "profiler-step"
    layers = ["gst-step", "profiler-step"]
    [budget]
    profiler-step = 1
    [imprecise_budget]
    profiler-step = 1
    [sampling]
    steps = true
    step_seconds = 8
    request_one_in = 20
    gst_every = 0
    [[program]]
    name = "calls"
    hooks = "none"
    baseline = false
    fixtures = { names = ["tiny-leaves", "hash-maps", "lambdas"], seconds = 4 }
"#;

/// The profiler's own timer hardly ever fires.
const SELDOM: &str = "period_us=1000000";

/// So many events are enough.
const ENOUGH: u64 = 3000;

/// What each layer of the profiler has seen in runs of `scenario` with these options, once there are enough events.
fn run(
    ours: &Ours,
    jdk: &Path,
    scenario: &str,
    layer: Layer,
    options: &str,
) -> (Tally, JoinCounts) {
    let deadline = Deadline::new(format!("{jdk:?}: waiting for events of {layer}"));
    let (mut tally, mut joined) = (Tally::default(), None::<JoinCounts>);
    for seed in 1.. {
        deadline.check();
        let report = ours.report(jdk, scenario, seed, options);
        for truth in [Layer::Ground, Layer::Gst, Layer::GstStep] {
            let mismatches = report.layer(truth).map_or(0, |counts| counts.mismatches());
            assert_eq!(mismatches, 0, "{jdk:?}: {truth}");
        }
        tally += &report.layer(layer).map(|of| of.tally()).unwrap_or_default();
        let found = report.runs[0].joined.iter().find(|of| of.layer == layer);
        let found = found.expect("it was joined");
        let sum = joined.get_or_insert_with(|| JoinCounts {
            events: 0,
            joined: 0,
            ..found.clone()
        });
        (sum.events, sum.joined) = (sum.events + found.events, sum.joined + found.joined);
        println!(
            "{jdk:?} {layer}: {} of {} joined, {tally:?}",
            sum.joined, sum.events
        );
        if sum.events >= ENOUGH {
            break;
        }
    }
    (tally, joined.expect("there was a run"))
}

fn all_are_joined(jdk: &Path, counts: &JoinCounts) {
    let share = counts.joined as f64 / counts.events as f64;
    assert!(share >= JOINED, "{jdk:?}: {counts:?}");
}

#[test]
fn a_profiler_can_be_asked_by_its_signal() {
    let dir = tempfile::tempdir().unwrap();
    let Some(ours) = Ours::build(dir.path()) else {
        return;
    };
    for jdk in jdks() {
        let (_, counts) = run(&ours, &jdk, INSTANTS, Layer::Profiler, SELDOM);
        all_are_joined(&jdk, &counts);
    }
}

/// Half of the stacks have a mistake then.
#[test]
fn a_profiler_can_be_asked_at_instructions() {
    if support::cannot_step() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let Some(ours) = Ours::build(dir.path()) else {
        return;
    };
    for jdk in jdks() {
        let at_steps = |options| run(&ours, &jdk, STEPS, Layer::ProfilerStep, options);
        let rate = |tally: &Tally| tally.mismatch_rate().expect("there are checks");
        let (honest, counts) = at_steps("period_us=1000");
        all_are_joined(&jdk, &counts);
        let (faulty, counts) = at_steps("period_us=1000,one_in=2,fault=swap");
        all_are_joined(&jdk, &counts);
        // Of an honest walker most stacks are true, and faults are in stacks of four frames and more.
        let (honest, faulty) = (rate(&honest), rate(&faulty));
        assert!(honest < 0.25 && faulty > 0.4, "{jdk:?}: {honest}, {faulty}");
    }
}
