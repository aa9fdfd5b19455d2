//! The profiler is asked at instants that Stackwitness chooses: by its signal, and at instructions of threads that run one
//! instruction at a time.

use super::{JOINED, Ours};
use crate::support::{self, Deadline, jdks};
use oracle::Layer;
use oracle::record::CauseName;
use oracle::report::Report;
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

/// What a layer of the profiler has seen.
#[derive(Default)]
struct Seen {
    tally: Tally,
    events: u64,
    /// Events that belong to exactly one request.
    joined: u64,
    /// False stacks, and those of them whose cause is known.
    mismatches: u64,
    explained: u64,
}

impl Seen {
    /// What it has seen in runs of `scenario` with these options, once there are enough events.
    fn run(ours: &Ours, jdk: &Path, scenario: &str, layer: Layer, options: &str) -> Seen {
        let deadline = Deadline::new(format!("{jdk:?}: waiting for events of {layer}"));
        let mut seen = Seen::default();
        for seed in 1.. {
            deadline.check();
            let report = ours.report(jdk, scenario, seed, options);
            for truth in [Layer::Ground, Layer::Gst, Layer::GstStep] {
                let mismatches = report.layer(truth).map_or(0, |counts| counts.mismatches());
                assert_eq!(mismatches, 0, "{jdk:?}: {truth}");
            }
            seen.add(&report, layer);
            let Seen { events, joined, .. } = seen;
            println!(
                "{jdk:?} {layer}: {joined} of {events} joined, {:?}",
                seen.tally
            );
            if events >= ENOUGH {
                break;
            }
        }
        let share = seen.joined as f64 / seen.events as f64;
        assert!(share >= JOINED, "{jdk:?}: {share} joined");
        seen
    }

    fn add(&mut self, report: &Report, layer: Layer) {
        self.tally += &report.layer(layer).map(|of| of.tally()).unwrap_or_default();
        let found = report.runs[0].joined.iter().find(|of| of.layer == layer);
        let found = found.expect("it was joined");
        self.events += found.events;
        self.joined += found.joined;
        let kinds = report.runs[0].kinds.iter();
        for kind in kinds.filter(|kind| kind.layer == layer && kind.verdict.is_mismatch()) {
            let cause = kind.cause.as_ref().map(CauseName::as_str);
            let cause = cause.unwrap_or_else(|| panic!("nobody looked for the cause of {kind:?}"));
            self.mismatches += kind.count;
            if CauseName::explains(cause) {
                self.explained += kind.count;
            }
        }
    }
}

#[test]
fn a_profiler_can_be_asked_by_its_signal() {
    let dir = tempfile::tempdir().unwrap();
    let Some(ours) = Ours::build(dir.path()) else {
        return;
    };
    for jdk in jdks() {
        Seen::run(&ours, &jdk, INSTANTS, Layer::Profiler, SELDOM);
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
        let at_steps = |options| Seen::run(&ours, &jdk, STEPS, Layer::ProfilerStep, options);
        let rate = |seen: &Seen| seen.tally.mismatch_rate().expect("there are checks");
        let honest = at_steps("period_us=1000");
        let faulty = at_steps("period_us=1000,one_in=2,fault=swap");
        // Of an honest walker most stacks are true, and faults are in stacks of four frames and more.
        let rates = (rate(&honest), rate(&faulty));
        assert!(rates.0 < 0.25 && rates.1 > 0.4, "{jdk:?}: {rates:?}");
        // It asks AsyncGetCallTrace, most of whose mistakes are known. Those of the profiler itself are not. The known ones come in
        // bursts, so they are left out of the second share.
        let explained = honest.explained as f64 / honest.mismatches.max(1) as f64;
        let unexplained =
            (faulty.mismatches - faulty.explained) as f64 / faulty.tally.decided() as f64;
        assert!(
            explained > 0.5 && unexplained > 0.3,
            "{jdk:?}: {explained}, {unexplained}"
        );
    }
}
